// The answers of the server. Made from api.go and api_results.go by a test: go test -run TestAnswers -update-types

/** @typedef {{error: string, code: string, parameter?: string}} Error */
/** @typedef {{version: string, runs: Run[]}} Runs */
/** @typedef {{work: Work[]}} Progress */
/** @typedef {{run: number, of: string, name: string, step: string, done: number}} Work */
/**
 * @typedef {{
 *   index: number, name: string, kind: string, machine?: string, generation: number, changed?: boolean,
 *   reloading?: boolean, problem?: string, whole: boolean, can_whole: boolean, left_out_before: number,
 *   left_out_after: number, ranks: number, locations: number, threads: number, activities?: number,
 *   order?: number[], start: number, length: number, simulated: boolean, grid?: Grid, calls: number,
 *   messages: number, collectives: number, teams: number, paths: number, clock_error: number, host?: string,
 *   analysis: string, analysis_error?: string, colors: string[], machines: string[], own_machine: string,
 *   advice: boolean, figures: string[], warnings: string[],
 * }} Run
 */
/** @typedef {{dims: number[], periodic: boolean[], coords: number[][]}} Grid */
/** @typedef {{first: number, locations: Location[], cut: boolean}} Locations */
/**
 * @typedef {{
 *   location: number, rank: number, thread: number, stream?: boolean, device?: number, name?: string,
 *   host?: string, first: number, last: number, calls: number,
 * }} Location
 */
/** @typedef {{color: string, generation: number, categories: Category[]}} Legend */
/**
 * @typedef {{
 *   id: number, name: string, title: string, class: string, slot: number, kind?: string, path?: number,
 *   parent?: number, rank: number, metric?: string, cost?: number, light?: string, dark?: string,
 * }} Category
 */
/** @typedef {{from: number, to: number, cut: boolean, locations: LocationCalls[]}} Calls */
/** @typedef {{location: number, calls: Call[]}} LocationCalls */
/**
 * @typedef {{
 *   index: number, path: number, depth: number, enter: number, leave: number, polls?: number, launch?: Launch,
 *   launched?: number,
 * }} Call
 */
/** @typedef {{location: number, levels: number, cut: boolean, pieces: StackPiece[]}} Stack */
/** @typedef {{depth: number, path: number, from: number, to: number, calls: number}} StackPiece */
/** @typedef {{cut: boolean, states: State[]}} States */
/**
 * @typedef {{
 *   state: number, location: number, rank: number, thread: number, call: number, path: number, metric: string,
 *   title: string, at: number, amount: number, cause_location: number, cause_rank: number, cause_path: number,
 *   cause_enter: number, met: boolean, since: number, sub?: string, sub_title?: string, sub_short?: string,
 *   uncertain?: boolean, end: number, spans?: number[][], category: number,
 * }} State
 */
/** @typedef {{total: number, estimated: boolean, chosen: boolean, messages: Message[]}} Messages */
/**
 * @typedef {{
 *   from: number, to: number, sent: number, received: number, size: number, tag: number, comm?: string,
 *   send: number, recv: number, send_path: number, recv_path: number, wait: number,
 * }} Message
 */
/** @typedef {{total: number, chosen: boolean, launches: Launch[]}} Launches */
/**
 * @typedef {{
 *   from: number, to: number, call: number, activity: number, launched: number, begin: number, end: number,
 *   call_path: number, path: number,
 * }} Launch
 */
/** @typedef {{length: number, missing: number, pieces: CriticalPiece[], paths: CriticalPath[]}} Critical */
/** @typedef {{location: number, from: number, to: number, segments: number, after?: string}} CriticalPiece */
/** @typedef {{path: number, time: number, average: number, imbalance: number}} CriticalPath */
/**
 * @typedef {{
 *   waiting: number, unattributed: number, uncertain: number, states: number, metrics: WaitMetric[],
 *   causes: WaitCause[], by_path: WaitCause[], by_rank: WaitCause[], cut: boolean, all_causes: number,
 *   all_paths: number, all_ranks: number,
 * }} Waits
 */
/**
 * @typedef {{
 *   metric: string, title: string, meaning: string, advice: string, category: number, part_of?: string,
 *   amount: number, direct: number, indirect: number, propagating: number, terminal: number,
 * }} WaitMetric
 */
/**
 * @typedef {{
 *   rank: number, path: number, cost: number, short: number, long: number, share: number,
 *   by_metric: Record<string, number>, category: number,
 * }} WaitCause
 */
/**
 * @typedef {{
 *   state: State, chain: Step[], explanation: Explanation, roots: Root[], rest: number, text: Sentence[],
 *   advice: string, next?: StateRef, previous?: StateRef,
 * }} WaitAnswer
 */
/**
 * @typedef {{
 *   kind: string, location: number, rank: number, path: number, from: number, to: number, amount: number,
 *   state: number, title?: string,
 * }} Step
 */
/**
 * @typedef {{
 *   metric: string, rank: number, path: number, count: number, amount: number, causes: Cause[],
 * }} Explanation
 */
/**
 * @typedef {{
 *   kind: string, rank: number, path: number, metric?: string, share: number, because?: Explanation,
 * }} Cause
 */
/** @typedef {{rank: number, path: number, share: number}} Root */
/** @typedef {{depth: number, text: string}} Sentence */
/** @typedef {{state: number, location: number, at: number, amount: number}} StateRef */
/** @typedef {{total: number, metrics: TreeMetric[], nodes: TreeNode[], cut: boolean}} Tree */
/** @typedef {{metric: string, title: string, unit: string, parent?: string, total: number}} TreeMetric */
/**
 * @typedef {{
 *   path: number, parent: number, name: string, kind: string, file?: string, line?: number, exclusive: number[],
 *   inclusive: number[],
 * }} TreeNode
 */
/**
 * @typedef {{
 *   path: number, metric: string, unit: string, inclusive: boolean, values: number[], sum: number, min: number,
 *   max: number, min_rank: number, max_rank: number, mean: number, median: number, q1: number, q3: number,
 *   grid?: Grid,
 * }} Distribution
 */
/**
 * @typedef {{
 *   ranks: number, size: number, group: number, from: number[], to: number[], count: number[], bytes: number[],
 * }} Matrix
 */
/** @typedef {{path: number, covers: boolean, cut: boolean, list: Iteration[]}} Iterations */
/**
 * @typedef {{
 *   begin: number, duration: number, computation: number, max_computation: number, mpi: number, waiting: number,
 * }} Iteration
 */
/** @typedef {{cut: boolean, list: Phase[]}} Phases */
/** @typedef {{path: number, begin: number, duration: number}} Phase */
/**
 * @typedef {{
 *   before: number, after: number, alpha: number, conclusive: boolean, least: number, changes: Change[],
 *   more: number, left: number,
 * }} Comparison
 */
/**
 * @typedef {{
 *   metric: string, title: string, callpath: string, before: number, after: number, p?: number,
 *   significant: boolean,
 * }} Change
 */
/** @typedef {{total: number, parts: Part[], efficiency: Efficiency, devices?: Device[]}} Composition */
/**
 * @typedef {{
 *   rank: number, device: number, span: number, computing: number, exposed: number, waiting: number, idle: number,
 *   latency: number, overlap: number, hidden: number, kernels: number,
 * }} Device
 */
/** @typedef {{kind: string, name: string, title: string, time: number}} Part */
/**
 * @typedef {{
 *   run_time: number, parallel: number, load_balance: number, communication: number, serialisation: number,
 *   transfer: number, not_analyzed: number, estimated: boolean,
 * }} Efficiency
 */
/**
 * @typedef {{
 *   machine: string, given: number, t: number, lambda_l: number, lambda_g: number, lambda_o: number, share: number,
 *   tolerances: LatencyLimit[], curve: TolerancePoint[], cut: boolean, sampled?: boolean, at?: TolerancePoint,
 * }} Tolerance
 */
/** @typedef {{latency: number, t: number, before: number, after: number}} TolerancePoint */
/** @typedef {{percent: string, latency: number, unbounded?: boolean}} LatencyLimit */
/** @typedef {{parameters: string[], series: Series[], cut: boolean}} SeriesList */
/**
 * @typedef {{
 *   series: number, callpath: string, metric: string, points: SeriesPoint[], model?: string, growth?: string,
 *   confidence?: number, doubt?: string,
 * }} Series
 */
/**
 * @typedef {{
 *   at: number[], count: number, min: number, q1: number, median: number, q3: number, max: number,
 * }} SeriesPoint
 */
/**
 * @typedef {{
 *   from: number, to: number, ranks: number, locations: number, streams?: number, total: number,
 *   on_streams?: number, parts: Part[], functions: SelectedPath[], waits: SelectedWait[], waiting: number,
 *   causes: SelectedCause[], messages: number, bytes: number, sizes: HistogramBin[], durations: HistogramBin[],
 *   iterations?: SelectedIterations, more_functions: number, more_causes: number,
 * }} Selection
 */
/** @typedef {{path: number, time: number, visits: number, samples?: number, stream?: boolean}} SelectedPath */
/** @typedef {{metric: string, title: string, category: number, amount: number, states: number}} SelectedWait */
/** @typedef {{rank: number, path: number, amount: number, category: number}} SelectedCause */
/** @typedef {{from: number, to: number, count: number, sum: number}} HistogramBin */
/**
 * @typedef {{
 *   first: number, count: number, shortest: number, median: number, longest: number, slowest: number,
 * }} SelectedIterations
 */
/** @typedef {{matches: Match[], more: number}} Matches */
/** @typedef {{kind: string, name: string, paths?: number[], ranks?: string}} Match */
/**
 * @typedef {{
 *   location: number, path: number, enter: number, leave: number, count: number, number: number,
 * }} Occurrence
 */
/** @typedef {{clusters: Cluster[], notes: string[]}} Clusters */
/**
 * @typedef {{
 *   count: number, ranks: string, representative: number, computation: number, waiting: number,
 *   communication: number,
 * }} Cluster
 */
/**
 * @typedef {{
 *   machine: string, run_time: number, noise: number, nothing: string, left: number, changes: AdviceEntry[],
 *   upgrades: AdviceEntry[], ceilings: AdviceCeiling[], together?: TogetherEntry,
 * }} Advice
 */
/**
 * @typedef {{
 *   change: string, sentence: string, run_time: number, gain: number, interval: string, command: string,
 * }} AdviceEntry
 */
/** @typedef {{name: string, run_time: number, gain: number}} AdviceCeiling */
/** @typedef {{changes: string[], run_time: number, gain: number, sum: number, command: string}} TogetherEntry */

export {};
