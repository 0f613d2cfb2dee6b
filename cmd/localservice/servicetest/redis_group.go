package servicetest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

// RedisGroup is a set of Redis servers with passwords: two servers and three Sentinels that
// watch them, or a cluster.
type RedisGroup struct {
	// Addresses are the Sentinels', or those of the cluster's servers.
	Addresses []string
	// Password of the servers; those with Sentinels have it for the user "slipway" only.
	Password string
	// SentinelPassword is that of the Sentinels.
	SentinelPassword string
	// Authority is the file with the certificate that signed those of TLS.
	Authority string

	folder   string
	secure   *tls.Config
	servers  map[string]*exec.Cmd // by address
	replicas map[string]string    // by the address of the master
}

// RedisGroupConfig says which of the servers have TLS.
type RedisGroupConfig struct {
	TLS, SentinelTLS bool
	// Replicas: each server of a cluster has a replica.
	Replicas bool
	// NoFailover: a replica takes the place of its master by Promote alone, and a server
	// that answers late on a busy machine is not taken for one that is down.
	NoFailover bool
}

// downAfter is after how many milliseconds of silence a server is down, by default as given.
func (c RedisGroupConfig) downAfter(given int) string {
	if c.NoFailover {
		given = int(time.Minute.Milliseconds())
	}
	return strconv.Itoa(given)
}

// RedisSentinels starts two servers and three Sentinels for this test. The Sentinels know
// the data as "main".
func RedisSentinels(t testing.TB, config RedisGroupConfig) *RedisGroup {
	t.Helper()
	g := newRedisGroup(t)
	g.SentinelPassword = "sentinels-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	var master string
	for range 2 {
		text := "requirepass " + g.Password + "-default\n" +
			"user slipway on >" + g.Password + " ~* &* +@all\nmasteruser slipway\nmasterauth " + g.Password + "\n"
		if config.TLS {
			text += "tls-replication yes\n"
		}
		if master != "" {
			host, port, _ := net.SplitHostPort(master)
			text += "replicaof " + host + " " + port + "\n"
		}
		address := g.start(t, text, config.TLS)
		if master == "" {
			master = address
		}
	}
	host, port, _ := net.SplitHostPort(master)
	for range 3 {
		text := "sentinel monitor main " + host + " " + port + " 2\n" +
			"sentinel auth-user main slipway\nsentinel auth-pass main " + g.Password + "\n" +
			"sentinel down-after-milliseconds main " + config.downAfter(500) + "\nsentinel failover-timeout main 3000\n" +
			"requirepass " + g.SentinelPassword + "\nsentinel sentinel-pass " + g.SentinelPassword + "\n"
		switch {
		case config.TLS && config.SentinelTLS:
			text += "tls-replication yes\n"
		case config.TLS:
			// A Sentinel that dials servers by TLS dials other Sentinels so too; one alone
			// decides then.
			text = strings.Replace(text, port+" 2\n", port+" 1\n", 1) + "tls-replication yes\n"
		}
		g.Addresses = append(g.Addresses, g.start(t, text, config.SentinelTLS, "--sentinel"))
		if config.TLS != config.SentinelTLS {
			break
		}
	}
	g.await(t, "replica and Sentinels know each other", func(ctx context.Context) error {
		for _, a := range g.Addresses {
			c := redis.NewSentinelClient(g.options(a, "", g.SentinelPassword, config.SentinelTLS))
			doc, err := c.Master(ctx, "main").Result()
			c.Close()
			if err != nil {
				return err
			}
			if doc["num-slaves"] != "1" || doc["num-other-sentinels"] != strconv.Itoa(len(g.Addresses)-1) {
				return fmt.Errorf("%s replicas, %s other Sentinels", doc["num-slaves"], doc["num-other-sentinels"])
			}
		}
		return nil
	})
	return g
}

// RedisCluster starts a cluster of three servers for this test, six with replicas.
func RedisCluster(t testing.TB, config RedisGroupConfig) *RedisGroup {
	t.Helper()
	g := newRedisGroup(t)
	for range 3 {
		g.Addresses = append(g.Addresses, g.startMember(t, config))
	}
	const slots = 16384
	for i, a := range g.Addresses {
		c := redis.NewClient(g.options(a, "", g.Password, config.TLS))
		if err := c.ClusterAddSlotsRange(t.Context(), i*slots/3, (i+1)*slots/3-1).Err(); err != nil {
			t.Fatalf("redis cluster: %v", err)
		}
		for _, other := range g.Addresses[:i] {
			host, port, _ := net.SplitHostPort(other)
			bus := strings.TrimSpace(g.setting(other, "cluster-port"))
			if err := c.Do(t.Context(), "cluster", "meet", host, port, bus).Err(); err != nil {
				t.Fatalf("redis cluster: %v", err)
			}
		}
		c.Close()
	}
	g.awaitCluster(t, config)
	if config.Replicas {
		g.replicate(t, config)
	}
	return g
}

func (g *RedisGroup) awaitCluster(t testing.TB, config RedisGroupConfig) {
	t.Helper()
	g.await(t, "the cluster is whole", func(ctx context.Context) error {
		for _, a := range g.Addresses {
			c := redis.NewClient(g.options(a, "", g.Password, config.TLS))
			info, err := c.ClusterInfo(ctx).Result()
			c.Close()
			if err != nil {
				return err
			}
			if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(len(g.Addresses))+"\r") {
				return fmt.Errorf("state of %s: %s", a, info)
			}
		}
		return nil
	})
}

// Kill ends the server at an address at once.
func (g *RedisGroup) Kill(t testing.TB, address string) {
	t.Helper()
	cmd := g.servers[address]
	if cmd == nil {
		t.Fatalf("redis group: no server at %s", address)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func newRedisGroup(t testing.TB) *RedisGroup {
	t.Helper()
	g := &RedisGroup{folder: t.TempDir(), servers: map[string]*exec.Cmd{},
		Password: "servers-" + strconv.FormatInt(time.Now().UnixNano(), 36)}
	g.Authority = filepath.Join(g.folder, "authority.pem")
	if err := g.certify(); err != nil {
		t.Fatalf("redis group: %v", err)
	}
	return g
}

// start starts a server and returns its address when it listens.
func (g *RedisGroup) start(t testing.TB, text string, secure bool, args ...string) string {
	t.Helper()
	binary, err := localservice.Find(localservice.Redis)
	if err != nil {
		t.Fatalf("redis group: %v", err)
	}
	port := strconv.Itoa(freePort(t))
	data := filepath.Join(g.folder, port)
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatalf("redis group: %v", err)
	}
	text += "bind 127.0.0.1\ndir " + data + "\nsave \"\"\nappendonly no\n"
	if secure || strings.Contains(text, "tls-") {
		text += "tls-cert-file " + filepath.Join(g.folder, "server.pem") + "\ntls-key-file " + filepath.Join(g.folder, "server.key") +
			"\ntls-ca-cert-file " + g.Authority + "\ntls-auth-clients no\n"
	}
	if secure {
		text += "port 0\ntls-port " + port + "\n"
	} else {
		text += "port " + port + "\n"
	}
	file := g.file("127.0.0.1:" + port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatalf("redis group: %v", err)
	}
	cmd := exec.Command(binary.Path, append([]string{file}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis group: %v", err)
	}
	address := "127.0.0.1:" + port
	g.servers[address] = cmd
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	g.await(t, "listening", func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	})
	return address
}

func (g *RedisGroup) file(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return filepath.Join(g.folder, port, "redis.conf")
}

// setting returns what a server's configuration says, "" when nothing.
func (g *RedisGroup) setting(address, name string) string {
	text, _ := os.ReadFile(g.file(address))
	_, rest, _ := strings.Cut("\n"+string(text), "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

func (g *RedisGroup) options(address, user, password string, secure bool) *redis.Options {
	o := &redis.Options{Addr: address, Username: user, Password: password, MaxRetries: -1}
	if secure {
		o.TLSConfig = g.secure.Clone()
	}
	return o
}

func (g *RedisGroup) await(t testing.TB, what string, do func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := do(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("redis group: %s: %v", what, err)
		}
	}
}

// certify makes an authority, and a certificate for 127.0.0.1.
func (g *RedisGroup) certify() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, data := range map[string][]byte{"authority.pem": certificate, "server.pem": certificate,
		"server.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})} {
		if err := os.WriteFile(filepath.Join(g.folder, name), data, 0o600); err != nil {
			return err
		}
	}
	g.secure = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	g.secure.RootCAs.AppendCertsFromPEM(certificate)
	return nil
}

// freePort is QuietPort for a test.
func freePort(t testing.TB) int {
	t.Helper()
	port, err := QuietPort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
