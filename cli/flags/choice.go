package flags

// The figures of a simulation.
const (
	FigureAuto     = "auto"
	FigureMessages = "messages"
	FigureFinish   = "finish"
)
