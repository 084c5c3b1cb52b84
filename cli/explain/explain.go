// Package explain is the verb explain: it explains metrics.
package explain

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/analyze/advise"
	"slackline/analyze/hang"
	"slackline/analyze/scaling"
	"slackline/analyze/waits"
	"slackline/cli/document"
	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/suggest"
	"slackline/internal/table"
)

// topic is something that the verb explain knows.
type topic struct {
	name, short, text, advice string
}

// shown are the words of texts for topics that have other names in results.
var shown = map[string]string{
	"Serialization": "serialisation_efficiency", "Serialization efficiency": "serialisation_efficiency", "Transfer": "transfer_efficiency",
	"Communication": "communication_efficiency", "Not analyzed": "not_analyzed_factor",
	"MPI time that was not analyzed": "not_analyzed_factor",
}

// fold is a name as it is compared: upper and lower case, spaces, hyphens and underscores are alike.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimSpace(name)))
}

// namesInTexts are the names of topics by the words of texts, folded.
func namesInTexts() map[string]string {
	names := map[string]string{}
	for word, name := range shown {
		names[fold(word)] = name
	}
	for _, m := range waits.Metrics() {
		names[fold(m.Info().Title)] = m.Info().Name
	}
	for _, k := range hang.Kinds() {
		names[fold(k.Title)] = k.Name
	}
	return names
}

// topics are the words of results that are explained beside the kinds of wait states.
var topics = []topic{
	{"delay", "what made others wait",
		"A delay is time that a rank spent in a call path beyond what the one that waited for it spent there, since the two had last " +
			"met. Its cost is the waiting time that it caused, on all ranks: short-term what it caused directly, long-term what was " +
			"caused by waits that it caused. The costs of all delays and the time without cause sum up to the waiting time, exactly.",
		"Start with the call path of the largest cost: balance it over the ranks, or make it shorter on the ranks that come late."},
	{"direct", "waiting caused by what the other one did",
		"The part of a wait that is due to excess time of the one that came late. The rest, indirect waiting, is due to waits of that one. " +
			"Direct and indirect sum up to the waiting time.", ""},
	{"indirect", "waiting caused by waits of the other one",
		"The part of a wait that is due to waits of the one that came late: a chain of causes leads further back. It goes when the delay at " +
			"the beginning of the chain goes.", ""},
	{"propagating", "waiting that made others wait",
		"The part of a wait that is responsible for waits of others later; if of several, the largest part counts. The rest is terminal.", ""},
	{"terminal", "waiting that caused no other waiting", "The part of a wait that causes no further waits: the end of a chain of causes.", ""},
	{"unattributed", "waiting without cause",
		"Waiting time whose two ranks had never met before, so that nothing can be compared: a process that started late in a program without " +
			"MPI_Init in the trace; or clocks that are wrong.", ""},
	{"critical_path", "what the run time consists of",
		"The sequence of activities that determines the run time: from the last event back; where a rank waited, on to the one that it waited " +
			"for. Its imbalance in a call path is what it has more than the average " +
			"location spends there without waiting. It is the path of the run as it was; 'slackline tolerance' has that of a model.", ""},
	{"parallel_efficiency", "useful time of all run time",
		"Average useful computation / run time. Load balance x communication efficiency; the latter is serialization (waiting for each other) " +
			"x transfer (time of the network).", ""},
	{"load_balance", "how even the computation is", "Average / maximum of the useful computation of the ranks.", ""},
	{"communication_efficiency", "what communication leaves", "Maximum of the useful computation of the ranks / run time.", ""},
	{"serialisation_efficiency", "what waiting for each other leaves", "Maximum of the useful computation / run time on an ideal network.",
		""},
	{"transfer_efficiency", "what the network leaves", "Run time on an ideal network (no latency, no cost per byte) / run time.", ""},
	{"not_analyzed_factor", "what MPI time that was not analyzed leaves",
		"1 if all MPI time was analyzed. Time in calls that no rule understands is neither waiting nor transfer, so that it is a " +
			"factor of its own: " +
			"communication = serialization x not analyzed x transfer.", ""},
	{"computation_scaling", "how the useful computation changes from one run to another",
		"Useful computation of all threads in the first run / that in the second: 1 is ideal strong scaling. It is the product of " +
			"instruction_scaling, ipc_scaling and frequency_scaling; with it, parallel_efficiency becomes the global efficiency of POP.", ""},
	{"instruction_scaling", "how the instructions change from one run to another",
		"Instructions in the useful computation of the first run / those of the second. Below 1: work is done more than once.",
		"Look for computation that every rank repeats, and for halos and buffers that grow with the number of ranks."},
	{"ipc_scaling", "how the instructions per cycle change from one run to another",
		"Instructions per cycle in the useful computation of the second run / those of the first. Below 1: the memory or the caches are " +
			"shared by more, or the code is another one; above 1: the data fit into caches.",
		"Compare ranks per node, placement, and the misses of caches."},
	{"frequency_scaling", "how the frequency changes from one run to another",
		"Cycles per second of useful computation of the second run / that of the first. Below 1: cores run slower when more of them " +
			"work, or had no CPU.", "Compare the power settings of the nodes, and pin the ranks."},
	{"useful_instructions", "instructions in computation", "Instructions outside of MPI, of all ranks, as far as they were counted.", ""},
	{"ipc", "instructions per cycle in computation", "Instructions / cycles outside of MPI, of all ranks.", ""},
	{"frequency", "cycles per second of computation", "Cycles outside of MPI / useful computation, of all threads.", ""},
	{"barrier_completion", "leaving a barrier",
		"Time in a barrier after the last rank entered and the first one left. It is not a wait state.", ""},
	{"nxn_completion", "leaving an n-to-n collective", "Time in an n-to-n collective after the last rank entered and the first one left. It " +
		"is not a wait state.", ""},
	{"limited_parallelism", "threads outside the team", "Time between fork and join of threads that are not members of the team.",
		"Ask for more threads, or start fewer."},
	{"management", "forking and joining threads", "Time of team members from the fork to the parallel region, and from its end to the join.",
		"Join small parallel regions to larger ones."},
}

// allTopics are the kinds of wait states, of reasons why programs stand still, of rules of expectation files and of advice, and the
// other words.
func allTopics() []topic {
	var list []topic
	for _, m := range waits.Metrics() {
		i := m.Info()
		list = append(list, topic{i.Name, i.Short, i.Title + ". " + i.Meaning, i.Advice})
	}
	for _, k := range hang.Kinds() {
		list = append(list, topic{k.Name, k.Short, k.Title + ". " + k.Meaning, k.Advice})
	}
	for _, k := range scaling.RuleKinds() {
		list = append(list, topic{k.Name, k.Short, k.Explanation, ""})
	}
	for _, k := range advise.Kinds() {
		list = append(list, topic{k.Name, k.Short, k.Meaning, k.Advice})
	}
	return append(list, topics...)
}

// Verb is the entry of the registry.
var Verb = env.Verb{Name: "explain", Group: env.Show, Job: env.OnceOnly, New: command}

func command(a *env.Env) *cobra.Command {
	var names []string
	for _, t := range allTopics() {
		names = append(names, t.name)
	}
	schema := ""
	c := &cobra.Command{
		Use:         "explain [METRIC]",
		Short:       "Explain a metric: what it means, what its cause is, and what usually helps.",
		Annotations: flags.Arguments("METRIC", "name of a metric of waits or profile, or a reason of hang; without one all are listed"),
		Example: `  slackline explain
  slackline explain late_sender
  slackline explain --schema simulate`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.Usagef("one metric at a time, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.WriteOut("", nil, func(w io.Writer) error {
				if schema == "" {
					return explain(a, w, args)
				}
				return writeSchema(a, w, schema, args)
			})
		},
	}
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		fs.StringVar(&schema, "schema", "", "print the JSON Schema of what `VERB` writes with --format json, e.g. simulate, measure-noise")
	})
	flags.CompleteWith(c, "schema", func() []string { return slices.Sorted(maps.Keys(documents(a))) })
	return c
}

// documents are the JSON documents of all verbs, by name.
func documents(a *env.Env) env.Documents {
	all := env.Documents{}
	for _, v := range a.Verbs {
		maps.Copy(all, v.Documents)
	}
	return all
}

func writeSchema(a *env.Env, w io.Writer, name string, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("--schema prints the schema of one document; leave %s out", args[0])
	}
	all := documents(a)
	types, ok := all[name]
	if !ok {
		names := slices.Sorted(maps.Keys(all))
		return exit.Usagef("--schema: no JSON document %q; give one of %s%s", name, strings.Join(names, ", "), suggest.Phrase(name, names))
	}
	return env.WriteJSONObject(w, document.Schema(name, types...))
}

// explain writes the explanation of a metric, or the list of all.
func explain(a *env.Env, w io.Writer, args []string) error {
	all := allTopics()
	if len(args) == 0 {
		t := table.Of("metric", "meaning")
		for _, topic := range all {
			t.Add(topic.name, topic.short)
		}
		a.WriteText(w, t, true)
		return nil
	}
	word := fold(args[0])
	var names, longer []string
	for _, t := range all {
		names = append(names, t.name)
		if strings.HasPrefix(t.name, word+"_") {
			longer = append(longer, t.name)
		}
	}
	if name, known := namesInTexts()[word]; known && !slices.Contains(names, word) {
		word = name
	}
	for _, t := range all {
		if t.name == word {
			a.WriteWrapped(w, t.text)
			if t.advice != "" {
				a.WriteWrapped(w, t.advice)
			}
			return nil
		}
	}
	hint := suggest.Phrase(word, names)
	if len(longer) > 0 {
		hint = "; there are " + phrase.List(longer)
	}
	return exit.Usagef("%q is not a metric; 'slackline explain' lists them%s", args[0], hint)
}
