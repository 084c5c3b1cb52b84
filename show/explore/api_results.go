package explore

// The answers that need the analysis of a run, or a dataset.

// Waits is the answer of waits. All times are sums over ranks.
type Waits struct {
	Waiting      int64        `json:"waiting"`
	Unattributed int64        `json:"unattributed"` // waiting without cause: the two had never synchronized before
	Uncertain    int64        `json:"uncertain"`    // in wait states shorter than the error of the clocks
	States       int          `json:"states"`
	Metrics      []WaitMetric `json:"metrics"` // those that occur, the largest first
	Causes       []WaitCause  `json:"causes"`  // rank and call path, the most expensive first
	ByPath       []WaitCause  `json:"by_path"` // the same summed over ranks; their Rank is -1
	ByRank       []WaitCause  `json:"by_rank"` // likewise by rank; their Path is -1
	Cut          bool         `json:"cut"`
	AllCauses    int          `json:"all_causes"` // how many there are in all
	AllPaths     int          `json:"all_paths"`
	AllRanks     int          `json:"all_ranks"`
}

// WaitMetric is a kind of wait state.
type WaitMetric struct {
	Metric      string `json:"metric"`
	Title       string `json:"title"`
	Meaning     string `json:"meaning"`
	Advice      string `json:"advice"`
	Category    int    `json:"category"` // in the legend of color=wait
	PartOf      string `json:"part_of,omitempty"`
	Amount      int64  `json:"amount"`
	Direct      int64  `json:"direct"`
	Indirect    int64  `json:"indirect"`
	Propagating int64  `json:"propagating"`
	Terminal    int64  `json:"terminal"`
}

// WaitCause is what a call path costs others.
type WaitCause struct {
	Rank     int              `json:"rank"`
	Path     int              `json:"path"`
	Cost     int64            `json:"cost"`
	Short    int64            `json:"short"` // directly
	Long     int64            `json:"long"`  // through further waits
	Share    float64          `json:"share"` // of all waiting
	ByMetric map[string]int64 `json:"by_metric"`
	Category int              `json:"category"` // in the legend of color=cause
}

// WaitAnswer is the answer of wait: a wait state, and why.
type WaitAnswer struct {
	State       State       `json:"state"`
	Chain       []Step      `json:"chain"` // back along the largest causes
	Explanation Explanation `json:"explanation"`
	Roots       []Root      `json:"roots"` // where it started, the largest first
	Rest        int64       `json:"rest"`  // what roots leave out
	Text        []Sentence  `json:"text"`
	Advice      string      `json:"advice"`
	Next        *StateRef   `json:"next,omitempty"`     // wait of the same kind at the same location
	Previous    *StateRef   `json:"previous,omitempty"` // likewise
}

// Step is a place to jump to on the way back to the cause.
type Step struct {
	Kind     string `json:"kind"` // wait: a location waits; work: it computes longer than the one that waits; unknown
	Location int    `json:"location"`
	Rank     int    `json:"rank"`
	Path     int    `json:"path"`
	From     int64  `json:"from"` // ps: where to look: the wait, or the longest call of the path since the two had synchronized
	To       int64  `json:"to"`
	Amount   int64  `json:"amount"`          // of a wait: how long; of work: the part of the wait before that it explains
	State    int    `json:"state"`           // of a wait: its number; else -1
	Title    string `json:"title,omitempty"` // of a wait: its kind
}

// Explanation is why waiting happened; shares of causes sum up to the amount.
type Explanation struct {
	Metric string  `json:"metric"`
	Rank   int     `json:"rank"`
	Path   int     `json:"path"`
	Count  int64   `json:"count"`
	Amount int64   `json:"amount"`
	Causes []Cause `json:"causes"`
}

// Cause is one reason why a rank came late.
type Cause struct {
	Kind    string       `json:"kind"` // excess, waited or unknown
	Rank    int          `json:"rank"`
	Path    int          `json:"path"`
	Metric  string       `json:"metric,omitempty"`
	Share   int64        `json:"share"`
	Because *Explanation `json:"because,omitempty"`
}

// Root is a call path on a rank where a chain of causes begins.
type Root struct {
	Rank  int   `json:"rank"`
	Path  int   `json:"path"`
	Share int64 `json:"share"`
}

// Sentence is a part of an explanation in words; deeper ones explain the one before.
type Sentence struct {
	Depth int    `json:"depth"`
	Text  string `json:"text"`
}

// StateRef is where another wait state is.
type StateRef struct {
	State    int   `json:"state"`
	Location int   `json:"location"`
	At       int64 `json:"at"`
	Amount   int64 `json:"amount"`
}

// Tree is the answer of tree: call paths, parents before children, with sums over all ranks.
type Tree struct {
	Total   int64        `json:"total"` // ps: time of all threads, as in Composition: what times are shares of
	Metrics []TreeMetric `json:"metrics"`
	Nodes   []TreeNode   `json:"nodes"`
	Cut     bool         `json:"cut"` // there are more call paths
}

// TreeMetric is a metric of a tree.
type TreeMetric struct {
	Metric string `json:"metric"` // time, visits, sent, received, collective, waiting, waiting:METRIC, delay, critical
	Title  string `json:"title"`
	Unit   string `json:"unit"` // ps, bytes or count
	Parent string `json:"parent,omitempty"`
	Total  int64  `json:"total"`
}

// TreeNode is a call path. Exclusive and Inclusive are in the order of Tree.Metrics.
type TreeNode struct {
	Path      int     `json:"path"`
	Parent    int     `json:"parent"` // of path 0: -1
	Name      string  `json:"name"`   // of the last function
	Kind      string  `json:"kind"`
	File      string  `json:"file,omitempty"`
	Line      int     `json:"line,omitempty"`
	Exclusive []int64 `json:"exclusive"`
	Inclusive []int64 `json:"inclusive"`
}

// Distribution is the answer of distribution: a metric of a call path by rank. Parameters: path, metric as in
// TreeMetric, inclusive 0 or 1 (1 if left out).
type Distribution struct {
	Path      int     `json:"path"`
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit"`
	Inclusive bool    `json:"inclusive"`
	Values    []int64 `json:"values"` // by rank
	Sum       int64   `json:"sum"`
	Min       int64   `json:"min"`
	Max       int64   `json:"max"`
	MinRank   int     `json:"min_rank"`
	MaxRank   int     `json:"max_rank"`
	Mean      float64 `json:"mean"`
	Median    float64 `json:"median"`
	Q1        float64 `json:"q1"`
	Q3        float64 `json:"q3"`
	Grid      *Grid   `json:"grid,omitempty"`
}

// Matrix is the answer of matrix: messages between pairs of ranks, in at most size x size cells (size up to MaxMatrix). A cell
// (i, j) is for the ranks i*Group ... and j*Group ...; columns hold the cells that are not empty, by sender, then
// receiver. Collectives are not in it.
type Matrix struct {
	Ranks int     `json:"ranks"`
	Size  int     `json:"size"`
	Group int     `json:"group"`
	From  []int   `json:"from"`
	To    []int   `json:"to"`
	Count []int64 `json:"count"`
	Bytes []int64 `json:"bytes"`
}

// Iterations is the answer of iterations. Path is -1 and List empty if the program does not repeat itself.
type Iterations struct {
	Path   int         `json:"path"`
	Covers bool        `json:"covers"` // calls of the path are the iterations; else these last until the next one
	Cut    bool        `json:"cut"`
	List   []Iteration `json:"list"`
}

// Iteration is one of them; times in ps.
type Iteration struct {
	Begin          int64 `json:"begin"`       // on the first rank
	Duration       int64 `json:"duration"`    // mean over ranks
	Computation    int64 `json:"computation"` // likewise
	MaxComputation int64 `json:"max_computation"`
	MPI            int64 `json:"mpi"`     // mean over ranks, waiting included
	Waiting        int64 `json:"waiting"` // mean over ranks
}

// Phases is the answer of phases: what the first location does one after the other at the outermost level with more than one call.
type Phases struct {
	Cut  bool    `json:"cut"`
	List []Phase `json:"list"`
}

// Phase is one of them; times in ps.
type Phase struct {
	Path     int   `json:"path"`
	Begin    int64 `json:"begin"`
	Duration int64 `json:"duration"`
}

// Comparison is the answer of compare: numbers of runs before and after, as slackline compare has them. Those of the whole run
// come first, then the largest differences.
type Comparison struct {
	Before     int      `json:"before"` // runs
	After      int      `json:"after"`
	Alpha      float64  `json:"alpha"`      // probability of chance below which a change is significant
	Conclusive bool     `json:"conclusive"` // there are repetitions enough to tell
	Least      int      `json:"least"`      // repetitions of both that are enough
	Changes    []Change `json:"changes"`
	More       int      `json:"more"` // changes that are not listed
	Left       int      `json:"left"` // numbers that only one side has
}

// Change is how a number differs; times in ps, medians of repetitions.
type Change struct {
	Metric      string   `json:"metric"`
	Title       string   `json:"title"`
	CallPath    string   `json:"callpath"` // empty: the whole run
	Before      int64    `json:"before"`
	After       int64    `json:"after"`
	P           *float64 `json:"p,omitempty"` // probability of chance; left out with one run of a side
	Significant bool     `json:"significant"`
}

// Composition is the answer of composition: what all locations do from the start of the run to its end.
type Composition struct {
	Total      int64      `json:"total"` // ps: run time x locations
	Parts      []Part     `json:"parts"`
	Efficiency Efficiency `json:"efficiency"`
	Devices    []Device   `json:"devices,omitempty"` // of runs with accelerators
}

// Device is what an accelerator did with its time; see devices.Use.
type Device struct {
	Rank      int   `json:"rank"`
	Device    int   `json:"device"`
	Span      int64 `json:"span"` // ps: from the first start to the last end
	Computing int64 `json:"computing"`
	Exposed   int64 `json:"exposed"`
	Waiting   int64 `json:"waiting"`
	Idle      int64 `json:"idle"`
	Latency   int64 `json:"latency"`
	Overlap   int64 `json:"overlap"`
	Hidden    int64 `json:"hidden"`
	Kernels   int64 `json:"kernels"`
}

// Part is the time of a kind of activity.
type Part struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Title string `json:"title"`
	Time  int64  `json:"time"`
}

// Efficiency are the POP efficiencies, fractions of 1.
type Efficiency struct {
	RunTime       int64   `json:"run_time"`
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
	Serialisation float64 `json:"serialisation"`
	Transfer      float64 `json:"transfer"`
	NotAnalyzed   float64 `json:"not_analyzed"` // what MPI time that was not analyzed leaves; 1: there is none
	Estimated     bool    `json:"estimated"`    // serialisation and transfer are estimates
}

// Tolerance is the answer of tolerance: the run as a schedule, replayed on a machine; T as a function of the latency L.
// Parameters: machine, a name of Run.Machines (the first if left out); latency in picoseconds, if At is wanted.
type Tolerance struct {
	Machine string `json:"machine"`
	// ps: latency of the machine; of several classes of links that of the first, and all move together
	Given      int64            `json:"given"`
	T          int64            `json:"t"` // ps: run time there
	LambdaL    int64            `json:"lambda_l"`
	LambdaG    int64            `json:"lambda_g"` // bytes
	LambdaO    int64            `json:"lambda_o"`
	Share      float64          `json:"share"` // of T that is latency
	Tolerances []LatencyLimit   `json:"tolerances"`
	Curve      []TolerancePoint `json:"curve"`             // ends of the range and breakpoints; T is linear between them
	Cut        bool             `json:"cut"`               // breakpoints were left out of the curve
	Sampled    bool             `json:"sampled,omitempty"` // of a long run: T is exact at the points of the curve, convex between them
	At         *TolerancePoint  `json:"at,omitempty"`
}

// TolerancePoint is a point of the curve. Slopes count latencies on the critical path.
type TolerancePoint struct {
	Latency float64 `json:"latency"` // ps
	T       float64 `json:"t"`       // ps
	Before  int64   `json:"before"`
	After   int64   `json:"after"`
}

// LatencyLimit is the largest latency at which T is at most so much longer.
type LatencyLimit struct {
	Percent   string `json:"percent"`
	Latency   int64  `json:"latency"`
	Unbounded bool   `json:"unbounded,omitempty"`
}

// SeriesList is the answer of series: what is in a dataset.
type SeriesList struct {
	Parameters []string `json:"parameters"`
	Series     []Series `json:"series"`
	Cut        bool     `json:"cut"`
}

// Series is a metric of a call path over the parameters, with a model of it if there is one.
type Series struct {
	Series     int           `json:"series"` // its number: figure?series=
	CallPath   string        `json:"callpath"`
	Metric     string        `json:"metric"`
	Points     []SeriesPoint `json:"points"`
	Model      string        `json:"model,omitempty"`
	Growth     string        `json:"growth,omitempty"`     // of its largest term
	Confidence float64       `json:"confidence,omitempty"` // in that, 0 to 1; 0: not known
	Doubt      string        `json:"doubt,omitempty"`
}

// SeriesPoint are the repetitions at one place, as a box plot.
type SeriesPoint struct {
	At     []float64 `json:"at"` // by parameter
	Count  int       `json:"count"`
	Min    float64   `json:"min"`
	Q1     float64   `json:"q1"`
	Median float64   `json:"median"`
	Q3     float64   `json:"q3"`
	Max    float64   `json:"max"`
}

// Selection is the answer of selection: statistics of a range of time and a set of ranks. Wait states count as far as they lie in the
// range; their causes are those of the whole run. Parameters: from, to; ranks, a list as 0-3,8 (left out: all).
type Selection struct {
	From      int64 `json:"from"`
	To        int64 `json:"to"`
	Ranks     int   `json:"ranks"`
	Locations int   `json:"locations"`            // threads
	Streams   int   `json:"streams,omitempty"`    // of devices
	Total     int64 `json:"total"`                // ps: time of all threads
	OnStreams int64 `json:"on_streams,omitempty"` // ps: time of all streams

	Parts      []Part              `json:"parts"`     // as in Composition; MPI time that was not analyzed is in its kind
	Functions  []SelectedPath      `json:"functions"` // call paths with time of their own, the longest first
	Waits      []SelectedWait      `json:"waits"`     // the longest first
	Waiting    int64               `json:"waiting"`
	Causes     []SelectedCause     `json:"causes"`   // origins of wait states, each by its largest causes; the costliest first
	Messages   int64               `json:"messages"` // received in the range by the ranks
	Bytes      int64               `json:"bytes"`
	Sizes      []HistogramBin      `json:"sizes"`     // of messages, in bytes
	Durations  []HistogramBin      `json:"durations"` // of messages from sending to receiving, in ps
	Iterations *SelectedIterations `json:"iterations,omitempty"`

	MoreFunctions int `json:"more_functions"` // that are not listed
	MoreCauses    int `json:"more_causes"`
}

// SelectedPath is the time of a call path without what it calls, and how many of its calls began in the range.
type SelectedPath struct {
	Path    int   `json:"path"`
	Time    int64 `json:"time"`
	Visits  int64 `json:"visits"`
	Samples int64 `json:"samples,omitempty"` // that saw it in calls that began in the range: these are not counted
	Stream  bool  `json:"stream,omitempty"`  // it ran on streams
}

// SelectedWait is the waiting of a kind.
type SelectedWait struct {
	Metric   string `json:"metric"`
	Title    string `json:"title"`
	Category int    `json:"category"` // in the legend of color=wait
	Amount   int64  `json:"amount"`
	States   int64  `json:"states"`
}

// SelectedCause is the waiting that began with a call path on a rank.
type SelectedCause struct {
	Rank     int   `json:"rank"` // -1: unknown
	Path     int   `json:"path"`
	Amount   int64 `json:"amount"`
	Category int   `json:"category"` // in the legend of color=cause
}

// HistogramBin counts values from From to To, both included.
type HistogramBin struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Count int64 `json:"count"`
	Sum   int64 `json:"sum"`
}

// SelectedIterations are those that begin in the range, of all ranks.
type SelectedIterations struct {
	First    int   `json:"first"` // from 0 on
	Count    int   `json:"count"`
	Shortest int64 `json:"shortest"`
	Median   int64 `json:"median"`
	Longest  int64 `json:"longest"`
	Slowest  int   `json:"slowest"` // which one
}

// Matches is the answer of search: what has a text in its name, letters of any size. Parameters: text.
type Matches struct {
	Matches []Match `json:"matches"` // functions, call paths (if text has a slash), a rank, hosts, communicators
	More    int     `json:"more"`    // that are not listed
}

// Match is something that was found.
type Match struct {
	Kind  string `json:"kind"` // function, path, rank, host or communicator
	Name  string `json:"name"`
	Paths []int  `json:"paths,omitempty"` // of functions and call paths
	Ranks string `json:"ranks,omitempty"` // of the others, as 0-3,8
}

// Occurrence is the answer of occurrence: the next call of call paths after a place, or with back=1 the last one before it. Parameters:
// paths, a list as 3,5; ranks; time and location of the place.
type Occurrence struct {
	Location int   `json:"location"` // -1: there is none
	Path     int   `json:"path"`
	Enter    int64 `json:"enter"`
	Leave    int64 `json:"leave"`
	Count    int64 `json:"count"`  // of all
	Number   int64 `json:"number"` // which of them it is, from 1 on
}

// Clusters is the answer of clusters: ranks that behave alike.
type Clusters struct {
	Clusters []Cluster `json:"clusters"` // the largest first
	Notes    []string  `json:"notes"`    // what is worth a line: ranks that are slow everywhere
}

// Cluster are ranks whose time is composed alike. Shares are means, of the time of their threads.
type Cluster struct {
	Count          int     `json:"count"`
	Ranks          string  `json:"ranks"` // as 0-3,8
	Representative int     `json:"representative"`
	Computation    float64 `json:"computation"`
	Waiting        float64 `json:"waiting"`
	Communication  float64 `json:"communication"` // without waiting
}

// Advice is the answer of advice: the changes that pay, as the verb advise lists them.
type Advice struct {
	Machine  string          `json:"machine"`
	RunTime  int64           `json:"run_time"` // simulated, as the program is
	Noise    float64         `json:"noise"`    // share of the run time below which nothing is ranked
	Nothing  string          `json:"nothing"`  // says that nothing pays
	Left     int             `json:"left"`     // changes that were not tried
	Changes  []AdviceEntry   `json:"changes"`  // what pays most first
	Upgrades []AdviceEntry   `json:"upgrades"` // faster code and hardware
	Ceilings []AdviceCeiling `json:"ceilings"`
	Together *TogetherEntry  `json:"together,omitempty"`
}

// AdviceEntry is a change that pays.
type AdviceEntry struct {
	Change   string  `json:"change"`
	Sentence string  `json:"sentence"`
	RunTime  int64   `json:"run_time"` // with it
	Gain     float64 `json:"gain"`
	Interval string  `json:"interval"`
	Command  string  `json:"command"` // that shows the same
}

// AdviceCeiling is what no change of a kind can exceed.
type AdviceCeiling struct {
	Name    string  `json:"name"`
	RunTime int64   `json:"run_time"`
	Gain    float64 `json:"gain"`
}

// TogetherEntry is the best set of changes, simulated as one.
type TogetherEntry struct {
	Changes []string `json:"changes"`
	RunTime int64    `json:"run_time"`
	Gain    float64  `json:"gain"`
	Sum     float64  `json:"sum"` // of the gains of the changes alone
	Command string   `json:"command"`
}
