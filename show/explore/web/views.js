// The list of all views, in the order of their tabs.

import { AdviceView, KEYS as adviceKeys } from "./advice.js";
import { CausesView, KEYS as causesKeys } from "./causes.js";
import { CurveView, KEYS as curveKeys } from "./curve.js";
import { MapView, KEYS as mapKeys } from "./map.js";
import { MatrixView, KEYS as matrixKeys } from "./matrix.js";
import { OverviewView, KEYS as overviewKeys } from "./overview.js";
import { ScalingView, KEYS as scalingKeys } from "./scaling.js";
import { TimelineView, KEYS as timelineKeys } from "./timeline/view.js";
import { TreeView, KEYS as treeKeys } from "./tree.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./app.js").App} App */
/** @typedef {import("./app.js").View} View */

/**
 * @typedef {{
 *   name: string, title: string, keys: string[],
 *   fits: (run: Run) => boolean,
 *   create: (app: App, root: HTMLElement) => View,
 * }} Spec keys are the parameters of its address, beside run
 */

const isRun = (/** @type {Run} */ r) => r.kind !== "dataset";
const isDataset = (/** @type {Run} */ r) => r.kind === "dataset";

/** @type {Spec[]} */
export const VIEWS = [
  { name: "overview", title: "Overview", keys: overviewKeys, fits: isRun, create: (app, root) => new OverviewView(app, root) },
  { name: "timeline", title: "Timeline", keys: timelineKeys, fits: isRun, create: (app, root) => new TimelineView(app, root) },
  { name: "causes", title: "Causes", keys: causesKeys, fits: isRun, create: (app, root) => new CausesView(app, root) },
  { name: "advice", title: "Advice", keys: adviceKeys, fits: (r) => isRun(r) && r.advice, create: (app, root) => new AdviceView(app, root) },
  { name: "tree", title: "Call tree", keys: treeKeys, fits: isRun, create: (app, root) => new TreeView(app, root) },
  { name: "map", title: "Map", keys: mapKeys, fits: isRun, create: (app, root) => new MapView(app, root) },
  { name: "matrix", title: "Messages", keys: matrixKeys, fits: isRun, create: (app, root) => new MatrixView(app, root) },
  { name: "latency", title: "Latency", keys: curveKeys, fits: isRun, create: (app, root) => new CurveView(app, root) },
  { name: "scaling", title: "Scaling", keys: scalingKeys, fits: isDataset, create: (app, root) => new ScalingView(app, root) },
];
