package otf2

import "math"

// Metrics. A class has members, whose values an event gives in their order.
type (
	// Metric is a member of classes.
	Metric struct {
		ID, Name, Unit uint32
		Mode           uint8
		Base           uint8
		Exponent       int64
	}
	// MetricClass are metrics that are recorded together.
	MetricClass struct {
		ID         uint32
		Members    []uint32
		Occurrence uint8
	}
)

// Ids of records about metrics.
const (
	DefMetricMember = 19
	DefMetricClass  = 20
	EvtMetric       = 31
	MapMetric       = 5
)

// Enumerations of metrics.
const (
	MetricOther  = 2 // a source
	MetricPAPI   = 0
	modeValue    = 15 // the part of a mode that says what values mean; the rest says for which time
	accumulated  = 0
	relative     = 2
	BaseDecimal  = 1
	TypeU64      = 4
	typeI64      = 8
	typeFloat    = 9
	typeDouble   = 10
	asynchronous = 2 // an occurrence
	RecorderCPU  = 1
)

// Synchronous reports whether the metrics are recorded when calls begin and end.
func (c *MetricClass) Synchronous() bool { return c.Occurrence != asynchronous }

// Counts reports whether values add up: each is what was counted from the start, or since the value before.
func (m *Metric) Counts() bool {
	return m.Mode&modeValue == accumulated || m.Mode&modeValue == relative
}

// Relative reports whether a value is what was counted since the value before.
func (m *Metric) Relative() bool { return m.Mode&modeValue == relative }

// Value returns a value of a type as a whole number; what is below 0 is 0.
func (m *Metric) Value(kind uint8, bits uint64) uint64 {
	x := 0.0
	switch kind {
	case typeDouble:
		x = math.Float64frombits(bits)
	case typeFloat:
		x = float64(math.Float32frombits(uint32(bits)))
	case typeI64:
		if int64(bits) < 0 {
			return 0
		}
		x = float64(bits)
	default:
		x = float64(bits)
	}
	if kind != typeDouble && kind != typeFloat && m.Exponent == 0 {
		return bits
	}
	base := 2.0
	if m.Base == BaseDecimal {
		base = 10
	}
	x = math.Round(x * math.Pow(base, float64(m.Exponent)))
	if !(x > 0) {
		return 0
	}
	return uint64(min(x, math.MaxInt64))
}

func (d *Definitions) addMetric(r *Bytes) {
	m := Metric{ID: r.U32(), Name: r.U32()}
	r.U32() // description
	r.U8()  // source
	m.Mode = r.U8()
	r.U8() // type
	m.Base, m.Exponent, m.Unit = r.U8(), int64(r.U64()), r.U32()
	d.Metrics = append(d.Metrics, m)
}
