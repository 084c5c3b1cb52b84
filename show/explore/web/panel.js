// The panel beside a view: what was asked about something in it.

import { breakable, el, refill } from "./dom.js";
import { duration, exact, percent } from "./format.js";

/** @typedef {import("./types.js").WaitAnswer} WaitAnswer */
/** @typedef {import("./types.js").StateRef} StateRef */
/** @typedef {import("./paths.js").Paths} Paths */
/** @typedef {import("./timeline/names.js").Names} Names */

/** The least share of a wait that a cause must have to be listed. */
const LEAST = 0.005;

export class Panel {
  /**
   * @param {HTMLElement} element
   * @param {() => void} closed the user closed it
   */
  constructor(element, closed) {
    this.element = element;
    this.closed = closed;
  }

  /**
   * @param {string} title
   * @param {...import("./dom.js").Child} content
   */
  show(title, ...content) {
    const close = el("button", { type: "button", class: "icon close", title: "Close (Esc)", "aria-label": "Close", text: "×", onclick: () => this.closed() });
    const parts = content.filter((c) => c !== null && c !== undefined && c !== false).map((c) => (c instanceof Node ? c : String(c)));
    refill(this.element, el("header", {}, el("h2", { class: "long", text: title, title }), close), ...parts);
    this.element.hidden = false;
    this.element.scrollTop = 0;
  }

  hide() {
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}

/**
 * @param {string} title
 * @param {...import("./dom.js").Child} content
 */
function part(title, ...content) {
  return el("section", {}, el("h3", { text: title }), ...content);
}

/**
 * @param {[string, string][]} rows
 */
function facts(rows) {
  return el("dl", { class: "facts" }, ...rows.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]));
}

/**
 * A wait: what, how long, its cause, and the way back to it.
 * @param {Panel} panel
 * @param {WaitAnswer} answer
 * @param {Paths} paths
 * @param {Names} names
 * @param {number} current step of the chain that the view shows, -1: none
 * @param {{jump: (step: number) => void, open: (ref: StateRef) => void, color: () => void}} hooks
 */
export function showWait(panel, answer, paths, names, current, hooks) {
  const s = answer.state;
  const main = answer.roots[0];
  panel.show(s.title,
    el("p", { class: "headline" },
      el("b", { text: names.long(s.location) }), " waits ", el("b", { class: "wait-time", text: duration(s.amount) }), " in ",
      el("code", { class: "long", text: paths.leaf(s.path) })),
    main ? el("p", { class: "verdict" }, main.share >= s.amount / 2 ? "Mostly because of " : "There are several causes; the largest is ", el("b", { text: `rank ${main.rank}` }), " in ",
      el("code", { class: "root long", title: paths.name(main.path) }, breakable(paths.brief(main.path))), ` (${percent(main.share / s.amount)})`) : null,
    s.sub_title ? el("p", { class: "note", text: `${s.sub_title}: ${names.long(s.location)} ${s.sub_short}.` }) : null,
    s.uncertain ? el("p", { class: "note", text: "Shorter than the error of the clocks: it may not have happened." }) : null,
    part("The way back to the cause", chain(answer, paths, names, current, hooks)),
    answer.roots.length > 0 ? part("Where it began", roots(answer, paths)) : null,
    answer.text.length > 0 ? part("In words", ...answer.text.map((t) =>
      el("p", { class: `sentence depth-${Math.min(t.depth, 4)}`, text: t.text }))) : null,
    answer.advice ? part("What usually helps", el("p", { text: answer.advice })) : null,
    part("Exactly", facts([
      ["starts", exact(s.at)], ["ends", exact(s.end)], ["call path", paths.name(s.path)],
      ["late", `${names.long(s.cause_location)} in ${paths.leaf(s.cause_path)} at ${exact(s.cause_enter)}`],
      ["had met", s.met ? `at ${exact(s.since)}` : "not before"],
    ])),
    el("nav", { class: "neighbors", "aria-label": "Waits of this kind in this row" },
      neighbor("‹ previous", answer.previous, hooks.open), neighbor("next ›", answer.next, hooks.open)));
}

/**
 * @param {string} text
 * @param {StateRef | undefined} ref
 * @param {(ref: StateRef) => void} open
 */
function neighbor(text, ref, open) {
  return el("button", { type: "button", text, disabled: !ref, onclick: () => ref && open(ref) });
}

/**
 * @param {WaitAnswer} answer
 * @param {Paths} paths
 * @param {Names} names
 * @param {number} current
 * @param {{jump: (step: number) => void}} hooks
 */
function chain(answer, paths, names, current, hooks) {
  return el("ol", { class: "chain" }, ...answer.chain.map((c, i) => {
    const who = names.long(c.location);
    const text = c.kind === "wait" ? `waits ${duration(c.amount)}` : c.kind === "work" ? `works ${duration(c.amount)} longer` : "unknown";
    return el("li", { class: `step ${c.kind}`, "aria-current": i === current ? "step" : undefined },
      el("div", {}, el("b", { text: who }), ` ${text} in `, el("code", { class: "long", text: paths.leaf(c.path), title: paths.name(c.path) })),
      el("div", { class: "small muted", text: `${c.title ? `${c.title}, ` : ""}${exact(c.from)} to ${exact(c.to)}` }),
      el("button", { type: "button", class: "link jump", text: "jump", "aria-label": `Jump to ${who} ${text}`, onclick: () => hooks.jump(i) }));
  }));
}

/**
 * @param {WaitAnswer} answer
 * @param {Paths} paths
 */
function roots(answer, paths) {
  const whole = Math.max(1, answer.state.amount);
  const great = answer.roots.filter((r, i) => i === 0 || (i < 6 && r.share / whole >= LEAST));
  const rest = answer.rest + answer.roots.reduce((sum, r) => sum + r.share, 0) - great.reduce((sum, r) => sum + r.share, 0);
  const rows = great.map((r) => share(`rank ${r.rank}`, paths.brief(r.path), r.share / whole, paths.name(r.path)));
  if (rest > 0) rows.push(share("the rest:", "smaller causes", rest / whole));
  return el("ul", { class: "shares" }, ...rows);
}

/**
 * @param {string} who
 * @param {string} where
 * @param {number} part
 * @param {string} [title] where, in full
 */
function share(who, where, part, title = where) {
  const bar = el("span", { class: "bar" });
  bar.style.width = `${Math.min(100, 100 * part)}%`;
  return el("li", {}, el("span", { class: "bar-ground" }, bar), el("span", { class: "number", text: percent(part) }),
    el("span", { class: "what" }, el("b", { text: who }), " ", el("code", { class: "long", title }, breakable(where))));
}

/**
 * Where an activity of a stream was launched, or what a host call launched.
 * @param {import("./types.js").Call} call
 * @param {Paths} paths
 * @param {Names} names
 * @returns {[string, string][]}
 */
function launchFacts(call, paths, names) {
  const l = call.launch;
  if (!l) return [];
  const after = duration(Math.max(0, l.begin - l.launched));
  if (!call.launched) return [["launched by", `${names.long(l.from)} in ${paths.leaf(l.call_path)} at ${exact(l.launched)}, ${after} before it starts`]];
  const more = call.launched > 1 ? `; ${call.launched} in all` : "";
  return [["launched", `${paths.leaf(l.path)} on ${names.short(l.to)}, which starts ${after} later${more}`]];
}

/**
 * A call that does not wait.
 * @param {Panel} panel
 * @param {import("./types.js").Call | null} call
 * @param {number} location
 * @param {number} time
 * @param {Paths} paths
 * @param {Names} names
 * @param {{zoom: () => void, tree: () => void, stack: () => void, launch: () => void}} hooks
 */
export function showCall(panel, call, location, time, paths, names, hooks) {
  const who = names.long(location);
  if (!call) {
    panel.show("In no call", el("p", {}, el("b", { text: who }), ` is in no recorded call at ${exact(time)}.`));
    return;
  }
  panel.show(paths.leaf(call.path),
    el("p", { class: "headline" }, el("b", { text: who }), " is here for ", el("b", { text: duration(call.leave - call.enter) })),
    facts([
      ["call path", paths.name(call.path)], ["enters", exact(call.enter)], ["leaves", exact(call.leave)], ["calls around it", String(call.depth)],
      ...launchFacts(call, paths, names),
      ...(call.polls ? [/** @type {[string, string]} */ (["polls", `${call.polls} without a result`])] : []),
    ]),
    el("nav", { class: "neighbors" },
      el("button", { type: "button", text: "Zoom to it", onclick: hooks.zoom }),
      call.launch ? el("button", { type: "button", class: "launch", text: call.launched ? "What it launched" : "Its launch", onclick: hooks.launch }) : "",
      el("button", { type: "button", text: "Call stack", title: "Expand the row to its call stack (e)", onclick: hooks.stack }),
      el("button", { type: "button", text: "In the call tree", onclick: hooks.tree })));
}
