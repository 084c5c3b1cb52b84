package explore

// The parameters of requests, by name. Numbers are decimal integers without sign.
//
//	run        index of a run, 0 if left out
//	from, to   a range of time in picoseconds since the start of the run, 0 <= from < to; left out: all of it. What
//	           lies after the end of the run is cut off
//	first, last  a range of locations, first <= location < last; left out: all of them
//	ranks      a list as 0-3,8: the locations of these ranks alone; first and last then count among them
//	width      number of columns (pixels) that can be seen, 1 to MaxWidth
//	rows       number of rows that can be seen, 1 to MaxRows: more locations are put together into groups of
//	           equal size
//	limit      how many things are listed at most, up to MaxList
//	color      kind, path, wait or cause; the last two need the analysis, see Run.Analysis
const (
	MaxWidth    = 8192
	MaxRows     = 4096
	MaxCells    = 1 << 24 // width times rows
	MaxList     = 20_000
	MaxMatrix   = 512 // size of a matrix
	MaxExact    = 256 // locations of calls and states
	TokenHeader = "X-Slackline-Token"
)

// Error is the answer to a request that cannot be answered. Its status is 400 for parameters that make no sense, 403
// without the token, 404 for what there is not, 405 for methods other than GET and HEAD, 503 with the code
// "not_ready" while the analysis that is asked for has not ended yet (try again), 500 for mistakes of the server.
type Error struct {
	Error     string `json:"error"` // a sentence for people: what is wrong, and how to fix it
	Code      string `json:"code"`  // bad_request, forbidden, not_found, method, not_ready, failed
	Parameter string `json:"parameter,omitempty"`
}

// Runs is the answer of runs.
type Runs struct {
	Version string `json:"version"` // of slackline
	Runs    []Run  `json:"runs"`
}

// Progress is the answer of progress: what takes long and is under way.
type Progress struct {
	Work []Work `json:"work"`
}

// Work is something that takes long.
type Work struct {
	Run  int     `json:"run"`
	Of   string  `json:"of"`   // name of the run
	Name string  `json:"name"` // analysis, statistics, latency or advice
	Step string  `json:"step"` // what is being done now
	Done float64 `json:"done"` // part that is done, 0 to 1
}

// Run is an input that is open: a run, or a dataset.
type Run struct {
	Index      int    `json:"index"`
	Name       string `json:"name"`                // as the user wrote it
	Kind       string `json:"kind"`                // trace, simulated or dataset
	Machine    string `json:"machine,omitempty"`   // on which it was simulated
	Generation int    `json:"generation"`          // grows when the run was read again: what was asked before is void
	Changed    bool   `json:"changed,omitempty"`   // its files changed since they were read; runs?reload=K reads them again
	Reloading  bool   `json:"reloading,omitempty"` // that is under way
	Problem    string `json:"problem,omitempty"`   // why it could not be read again
	Whole      bool   `json:"whole"`               // the start and the end of MPI are in it
	CanWhole   bool   `json:"can_whole"`           // runs?reload=K&whole=1 shows them, whole=0 leaves them out
	Before     int64  `json:"left_out_before"`     // ps: of the start of MPI, that are left out
	After      int64  `json:"left_out_after"`      // ps: of its end

	Ranks       int    `json:"ranks"`
	Locations   int    `json:"locations"`            // rows: threads and streams
	Threads     int    `json:"threads"`              // of hosts: the first locations
	Activities  int64  `json:"activities,omitempty"` // of streams: kernels, copies and memsets
	Order       []int  `json:"order,omitempty"`      // locations of the rows, if there are streams; left out: rows are locations
	Start       int64  `json:"start"`                // ps: time of the first event on the clock of the run
	Length      int64  `json:"length"`               // ps, at least 1
	Simulated   bool   `json:"simulated"`
	Grid        *Grid  `json:"grid,omitempty"` // process grid
	Calls       int64  `json:"calls"`
	Messages    int64  `json:"messages"`
	Collectives int64  `json:"collectives"`
	Teams       int64  `json:"teams"`       // parallel regions
	Paths       int    `json:"paths"`       // call paths, "in no call" included
	ClockError  int64  `json:"clock_error"` // ps: times of different ranks are right within this much; -1: not known
	Host        string `json:"host,omitempty"`

	// Analysis is the state of what takes longer than reading: running, ready or failed. Before it is ready there
	// are runs, locations, legend, timeline (color kind and path), calls, messages and matrix.
	Analysis      string   `json:"analysis"`
	AnalysisError string   `json:"analysis_error,omitempty"`
	Colors        []string `json:"colors"`      // that timeline can be asked for now
	Machines      []string `json:"machines"`    // that tolerance can be asked for; empty: no tolerance of this run
	OwnMachine    string   `json:"own_machine"` // of these that of the run or of the command line; empty: none, and the user must choose
	Advice        bool     `json:"advice"`      // whether advice can be asked for
	Figures       []string `json:"figures"`     // kinds that figure can be asked for
	Warnings      []string `json:"warnings"`
}

// Grid is a process grid.
type Grid struct {
	Dims     []int   `json:"dims"`
	Periodic []bool  `json:"periodic"`
	Coords   [][]int `json:"coords"` // by rank; null: not in the grid. In runs only of up to MaxList ranks, else null
}

// Locations is the answer of locations.
type Locations struct {
	First     int        `json:"first"`
	Locations []Location `json:"locations"`
	Cut       bool       `json:"cut"` // there are more: up to MaxList are named
}

// Location is a thread of a rank: a row.
type Location struct {
	Location int    `json:"location"`
	Rank     int    `json:"rank"`
	Thread   int    `json:"thread"`
	Stream   bool   `json:"stream,omitempty"` // of a device; it has no thread
	Device   int    `json:"device,omitempty"` // of a stream
	Name     string `json:"name,omitempty"`
	Host     string `json:"host,omitempty"`
	First    int64  `json:"first"` // ps: its first and last event
	Last     int64  `json:"last"`
	Calls    int    `json:"calls"`
}

// Legend is the answer of legend: the categories of a coloring, by id. Ids that are not listed do not occur.
type Legend struct {
	Color      string     `json:"color"`
	Generation int        `json:"generation"`
	Categories []Category `json:"categories"`
}

// Category is what a cell of the timeline shows. The first 16 ids of kind, wait and cause are the kinds of activity,
// which mean the same in all three; wait and cause have the waits from 16 on. Those of path are call paths.
type Category struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`  // kind, call path, wait metric, or "rank 7: main/solve"
	Title string `json:"title"` // for people
	// Class is how it is to be colored: computation, communication, runtime (OpenMP, noise, recording), outside,
	// wait or cause.
	Class string `json:"class"`
	// Slot distinguishes those of a class, from 0 on. Slots of causes are by their cost, the costliest first;
	// those of call paths are by region, so that a function has the same slot wherever it is called.
	Slot   int    `json:"slot"`
	Kind   string `json:"kind,omitempty"`   // of call paths and kinds, as in Composition
	Path   int    `json:"path,omitempty"`   // of call paths and causes
	Parent int    `json:"parent,omitempty"` // of call paths
	Rank   int    `json:"rank"`             // of causes, -1 for the rest of them and for all else
	Metric string `json:"metric,omitempty"` // of waits
	Cost   int64  `json:"cost,omitempty"`   // ps, of causes: all waiting that they caused
	Light  string `json:"light,omitempty"`  // of waits: color on a light and on a dark background, #RRGGBB
	Dark   string `json:"dark,omitempty"`
}

// Calls is the answer of calls: the calls that are open at some time of the window, in order of their beginning, at
// most limit of them and at most MaxExact locations.
type Calls struct {
	From      int64           `json:"from"`
	To        int64           `json:"to"`
	Cut       bool            `json:"cut"` // there are more: ask for less
	Locations []LocationCalls `json:"locations"`
}

// LocationCalls are calls of one location.
type LocationCalls struct {
	Location int    `json:"location"`
	Calls    []Call `json:"calls"`
}

// Call is a call.
type Call struct {
	Index int   `json:"index"` // among the calls of its location
	Path  int   `json:"path"`
	Depth int   `json:"depth"` // number of calls around it
	Enter int64 `json:"enter"`
	Leave int64 `json:"leave"`
	Polls int64 `json:"polls,omitempty"` // calls without a result that it represents

	Launch   *Launch `json:"launch,omitempty"`   // that of this activity, or the first one that this call launched
	Launched int     `json:"launched,omitempty"` // activities that this call launched
}

// Stack is the answer of stack: what a location calls, by depth. Calls narrower than a column are put together. Parameters: location,
// from, to, width.
type Stack struct {
	Location int          `json:"location"`
	Levels   int          `json:"levels"` // depths that occur
	Cut      bool         `json:"cut"`    // there are deeper ones
	Pieces   []StackPiece `json:"pieces"`
}

// StackPiece is a call, as far as it lies in the window, or several short ones that follow each other.
type StackPiece struct {
	Depth int   `json:"depth"`
	Path  int   `json:"path"` // of several calls that of the longest
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Calls int   `json:"calls"`
}

// States is the answer of states: wait states that overlap the window, by location, then time; or the largest ones of
// the run, the longest first.
type States struct {
	Cut    bool    `json:"cut"`
	States []State `json:"states"`
}

// State is one wait state: its location sat idle for Amount from At on.
type State struct {
	State         int       `json:"state"` // its number: wait?state=
	Location      int       `json:"location"`
	Rank          int       `json:"rank"`
	Thread        int       `json:"thread"`
	Call          int       `json:"call"` // index of the call that waits
	Path          int       `json:"path"`
	Metric        string    `json:"metric"`
	Title         string    `json:"title"` // of the metric
	At            int64     `json:"at"`
	Amount        int64     `json:"amount"`
	CauseLocation int       `json:"cause_location"` // who came late
	CauseRank     int       `json:"cause_rank"`
	CausePath     int       `json:"cause_path"`          // with which operation
	CauseEnter    int64     `json:"cause_enter"`         // and when that began
	Met           bool      `json:"met"`                 // whether the two had met before
	Since         int64     `json:"since"`               // when; 0 if not
	Sub           string    `json:"sub,omitempty"`       // sub-state that it belongs to
	SubTitle      string    `json:"sub_title,omitempty"` // of that
	SubShort      string    `json:"sub_short,omitempty"`
	Uncertain     bool      `json:"uncertain,omitempty"` // shorter than the error of the clocks
	End           int64     `json:"end"`
	Spans         [][]int64 `json:"spans,omitempty"` // parts of its time that count; left out: all of it
	Category      int       `json:"category"`        // id of its root cause in the legend of color=cause
}

// Messages is the answer of messages: those on their way at some time of the window, with both ends in the range of
// locations.
type Messages struct {
	Total     int64     `json:"total"`     // messages in the window
	Estimated bool      `json:"estimated"` // Total is an estimate: not all messages were looked at
	Chosen    bool      `json:"chosen"`    // there are more than limit: of those looked at, limit are listed that matter most
	Messages  []Message `json:"messages"`  // by time of sending
}

// Message is a message from location to location.
type Message struct {
	From     int    `json:"from"`
	To       int    `json:"to"`
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
	Size     int64  `json:"size"` // bytes
	Tag      int    `json:"tag"`
	Comm     string `json:"comm,omitempty"`
	Send     int    `json:"send"` // index of the call that sent it
	Recv     int    `json:"recv"` // index of the call that received it
	SendPath int    `json:"send_path"`
	RecvPath int    `json:"recv_path"`
	Wait     int64  `json:"wait"` // ps: how long its receiver or its sender waited in that call; 0 also before the analysis
}

// Launches is the answer of launches: activities of streams in the window, with the host calls that launched them, by time of launch.
type Launches struct {
	Total    int64    `json:"total"`  // launches in the window
	Chosen   bool     `json:"chosen"` // there are more than limit: those of the longest activities are listed
	Launches []Launch `json:"launches"`
}

// Launch leads from a host call to what it launched.
type Launch struct {
	From     int   `json:"from"` // location of the thread
	To       int   `json:"to"`   // and of the stream
	Call     int   `json:"call"` // index of the call
	Activity int   `json:"activity"`
	Launched int64 `json:"launched"` // when the call began
	Begin    int64 `json:"begin"`    // of the activity
	End      int64 `json:"end"`
	CallPath int   `json:"call_path"`
	Path     int   `json:"path"`
}

// Critical is the answer of critical: the critical path in the window, by time.
type Critical struct {
	Length  int64           `json:"length"`  // ps: of the whole path
	Missing int64           `json:"missing"` // ps: run time before its first segment
	Pieces  []CriticalPiece `json:"pieces"`
	Paths   []CriticalPath  `json:"paths"` // of the whole path, the longest first
}

// CriticalPiece is a part of the path on one location; if several change places within a column, they are one piece of
// Segments, on the location that has most of its time.
type CriticalPiece struct {
	Location int    `json:"location"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
	Segments int    `json:"segments"`
	After    string `json:"after,omitempty"` // metric of the wait that ended here
}

// CriticalPath compares the time of a call path on the critical path with the average of all locations.
type CriticalPath struct {
	Path      int   `json:"path"`
	Time      int64 `json:"time"`
	Average   int64 `json:"average"`
	Imbalance int64 `json:"imbalance"`
}
