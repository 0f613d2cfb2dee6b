package ops

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/slipway-qa/slipway/api/connection"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// topOrganizations bounds the series of each room that name an organization.
const topOrganizations = 3

// rooms collects the figures of admission rooms, and of the connections of the listener, at
// the scrape.
type rooms struct {
	capacity, held, waiting, admitted, refused, evicted, organizations *prometheus.Desc
	connections, refusedConnections, displaced                         *prometheus.Desc

	mu       sync.Mutex
	rooms    []*admission.Room
	listener *connection.Listener
}

func newRooms() *rooms {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &rooms{
		capacity: desc("slipway_admission_capacity", "What a room holds: slots, or bytes.", "room"),
		held:     desc("slipway_admission_held", "What is taken of a room.", "room"),
		waiting:  desc("slipway_admission_waiting", "Requests that wait for a place.", "room"),
		admitted: desc("slipway_admission_admitted_total", "Places that were given.", "room"),
		refused:  desc("slipway_admission_refused_total", "Requests that got no place in time.", "room"),
		evicted: desc("slipway_admission_evicted_total",
			"Slow senders above the share of their organization that lost their place to others.", "room"),
		organizations: desc("slipway_admission_organization_held",
			"What the organizations that hold most have of a room; 0 are callers without a key.", "room", "organization"),
		connections: desc("slipway_connections_open", "Connections of clients."),
		refusedConnections: desc("slipway_connections_refused_total",
			"Connections that were closed at once, as their address, or the process, had too many."),
		displaced: desc("slipway_connections_displaced_total", "Connections without a request that were closed for others."),
	}
}

// AddRooms adds rooms whose figures are shown.
func (m *Metrics) AddRooms(more ...*admission.Room) {
	m.rooms.mu.Lock()
	defer m.rooms.mu.Unlock()
	m.rooms.rooms = append(m.rooms.rooms, more...)
}

// SetListener has the connections of a listener shown.
func (m *Metrics) SetListener(l *connection.Listener) {
	m.rooms.mu.Lock()
	defer m.rooms.mu.Unlock()
	m.rooms.listener = l
}

// Describe satisfies prometheus.Collector.
func (r *rooms) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{r.capacity, r.held, r.waiting, r.admitted, r.refused, r.evicted, r.organizations,
		r.connections, r.refusedConnections, r.displaced} {
		to <- d
	}
}

// Collect satisfies prometheus.Collector.
func (r *rooms) Collect(to chan<- prometheus.Metric) {
	r.mu.Lock()
	list, listener := r.rooms, r.listener
	r.mu.Unlock()
	gauge := func(d *prometheus.Desc, value int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	counter := func(d *prometheus.Desc, value int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
	}
	for _, room := range list {
		s := room.Stats(topOrganizations)
		gauge(r.capacity, s.Capacity, s.Name)
		gauge(r.held, s.Held, s.Name)
		gauge(r.waiting, int64(s.Waiting), s.Name)
		counter(r.admitted, s.Admitted, s.Name)
		counter(r.refused, s.Refused, s.Name)
		counter(r.evicted, s.Evicted, s.Name)
		for _, o := range s.Organizations {
			gauge(r.organizations, o.Held, s.Name, strconv.FormatInt(o.Organization, 10))
		}
	}
	if listener != nil {
		s := listener.Stats()
		gauge(r.connections, s.Open)
		counter(r.refusedConnections, s.Refused)
		counter(r.displaced, s.Displaced)
	}
}
