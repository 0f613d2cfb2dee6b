package report

import "bytes"

// programs is a set of kinds of programs, by what their short flags mean.
type programs int

const (
	programAttached programs = 1 << iota // -pX is a password: mysql, sshpass, 7z
	programP                             // -p X is one: mongo, sshpass, whatever logs in
	programA                             // -a X: redis-cli
	programW                             // -w X: LDAP's tools
	programUpperP                        // -P X and -PX: sqlcmd, zip
	programUser                          // -u name:X: curl
)

// programOf returns the kind of a program, which may stand in a folder and end in .exe.
func programOf(word []byte) programs {
	if n := bytes.LastIndexAny(word, `/\`); n >= 0 {
		word = word[n+1:]
	}
	if len(word) > 4 && hasSuffixFold(word, "exe") && word[len(word)-4] == '.' {
		word = word[:len(word)-4]
	}
	if len(word) < 2 || len(word) > 20 {
		return 0
	}
	switch name := string(word); name {
	case "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlpump", "mysqlsh", "mysqlbinlog",
		"mysqlslap", "mariadb", "mariadb-dump", "mariadb-admin", "mariadb-import", "mariadb-check", "7z", "7za", "7zr", "rar", "unrar":
		return programAttached
	case "sshpass":
		return programAttached | programP
	case "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "cqlsh", "login":
		return programP
	case "redis-cli", "valkey-cli":
		return programA
	case "ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd", "ldapcompare":
		return programW
	case "sqlcmd", "bcp", "osql", "isql", "zip", "unzip":
		return programUpperP
	case "curl", "http", "https", "xh", "ab", "wrk", "wget":
		return programUser
	}
	return 0
}

// flagProgram returns the programs for which a letter stands before a password.
func flagProgram(letter byte) programs {
	switch letter {
	case 'p':
		return programP
	case 'P':
		return programUpperP
	case 'a':
		return programA
	case 'w':
		return programW
	}
	return 0
}

// programsIn returns the kinds of all words of a text.
func programsIn(s []byte) (found programs) {
	for i := 0; i < len(s); {
		if startsWord(s, i) {
			end := wordEndAt(s, i)
			found |= programOf(s[i:end])
			i = max(end, i+1)
			continue
		}
		i++
	}
	return found
}

// commandName reports whether a member of this name holds a command line or a list of
// arguments.
func commandName(name []byte) bool {
	if len(name) < 3 || len(name) > maxName || !hasCommandPair(name) {
		return false
	}
	for _, word := range []string{"cmd", "command", "argv", "args", "argument", "invocation", "exec"} {
		if containsFold(name, word) {
			return true
		}
	}
	return false
}

// hasCommandPair is the cheap check before: a pair of letters that every such name has.
func hasCommandPair(name []byte) bool {
	before := byte(0)
	for _, c := range name {
		c |= 0x20
		switch {
		case before == 'm' && (c == 'd' || c == 'm'), before == 'r' && c == 'g', before == 'n' && c == 'v', before == 'x' && c == 'e':
			return true
		}
		before = c
	}
	return false
}
