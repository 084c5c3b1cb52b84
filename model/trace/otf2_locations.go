package trace

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"slackline/model/timeline"
)

// idTable leads from ids in a file, which may have holes, to indices.
type idTable struct {
	dense  []uint32 // index + 1; 0: none
	sparse map[uint32]uint32
}

// maxDense bounds the dense part of a table, so that a single large id does not make it large.
const maxDense = 1 << 16

func (t *idTable) set(id, index uint32) {
	if id < uint32(len(t.dense)) {
		t.dense[id] = index + 1
		return
	}
	if id == uint32(len(t.dense)) || id < maxDense && id < 2*uint32(len(t.dense))+64 {
		t.dense = append(t.dense, make([]uint32, int(id)-len(t.dense)+1)...)
		t.dense[id] = index + 1
		return
	}
	if t.sparse == nil {
		t.sparse = map[uint32]uint32{}
	}
	t.sparse[id] = index + 1
}

// get returns the index of an id.
func (t *idTable) get(id uint32) (uint32, bool) {
	v := uint32(0)
	if id < uint32(len(t.dense)) {
		v = t.dense[id]
	}
	if v == 0 && t.sparse != nil {
		v = t.sparse[id]
	}
	return v - 1, v != 0
}

// mapped returns the table that leads from local ids to indices.
func (t *idTable) mapped(m *otf2Map) idTable {
	if m.empty() {
		return *t
	}
	var local idTable
	for id := range max(len(m.dense), len(t.dense)) {
		if index, ok := t.get(uint32(m.global(uint64(id)))); ok {
			local.set(uint32(id), index)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.sparse)) {
		if index, ok := t.get(uint32(m.sparse[id])); ok && id < undefined32 {
			local.set(uint32(id), index)
		}
	}
	for id, v := range t.sparse {
		if _, changed := m.sparse[uint64(id)]; !changed && uint64(id) >= uint64(len(m.dense)) {
			local.set(id, v-1)
		}
	}
	return local
}

// setLocations finds the threads of the ranks.
func (a *otf2Archive) setLocations() {
	d, t := a.defs, a.trace
	ranks := a.ranksOfGroups()
	masters := map[uint64]bool{}
	for _, id := range a.commLocations(paradigmMPI) {
		masters[id] = true
	}
	states := map[uint64]string{}
	for _, p := range d.properties {
		if d.strings[p.name] == otf2StateName {
			states[p.location] = d.strings[p.value]
		}
	}
	seen := map[uint64]bool{}
	for _, l := range d.locations {
		rank, ok := ranks[l.group]
		if !ok || l.kind != locationCPUThread || seen[l.id] {
			continue
		}
		seen[l.id] = true
		t.Locations = append(t.Locations, Location{
			ID: l.id, Rank: rank, Name: d.strings[l.name], Host: a.hostOf(l.group), Events: l.events,
			Truncated: states[l.id] == otf2Truncated, Missing: states[l.id] == otf2Missing,
		})
	}
	slices.SortFunc(t.Locations, func(x, y Location) int {
		master := 0
		if masters[x.ID] != masters[y.ID] {
			master = 1
			if masters[x.ID] {
				master = -1
			}
		}
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), master, cmp.Compare(x.ID, y.ID))
	})
	a.setStreams(ranks)
	for i := range t.Locations {
		if l := &t.Locations[i]; i > 0 && t.Locations[i-1].Rank == l.Rank {
			l.Thread = t.Locations[i-1].Thread + 1
		}
		t.Ranks = max(t.Ranks, t.Locations[i].Rank+1)
	}
	if int(a.anchor.locations) != len(d.locations) {
		a.warn("%s: there are %d locations, but the anchor file announces %d", a.src.showBeside(a.name+".def"), len(d.locations), a.anchor.locations)
	}
}

// ranksOfGroups numbers the processes: by the places of their locations in the group of all that take part
// in MPI, or, without one, by the ids of the processes.
func (a *otf2Archive) ranksOfGroups() map[uint32]int {
	d := a.defs
	groupOf := map[uint64]uint32{}
	hasThreads := map[uint32]bool{}
	for _, l := range d.locations {
		groupOf[l.id] = l.group
		hasThreads[l.group] = hasThreads[l.group] || l.kind == locationCPUThread
	}
	ranks := map[uint32]int{}
	next := 0
	for rank, id := range a.commLocations(paradigmMPI) {
		if group, ok := groupOf[id]; ok {
			if _, twice := ranks[group]; !twice {
				ranks[group] = rank
			}
		}
		next = rank + 1
	}
	for _, id := range slices.Sorted(maps.Keys(d.processes)) {
		if _, ok := ranks[id]; !ok && d.processes[id].kind == groupProcess && hasThreads[id] {
			ranks[id] = next
			next++
		}
	}
	return ranks
}

// hostOf returns the name of the node that a process runs on.
func (a *otf2Archive) hostOf(group uint32) string {
	id := a.defs.processes[group].parent
	nearest := a.defs.strings[a.defs.nodes[id].name]
	for range len(a.defs.nodes) { // a loop in the tree ends somewhere
		node, ok := a.defs.nodes[id]
		if !ok {
			break
		}
		if class := strings.ToLower(a.defs.strings[node.class]); class == "node" || class == "host" {
			return a.defs.strings[node.name]
		}
		id = node.parent
	}
	return nearest
}

// rankOf returns the rank of a location.
func (a *otf2Archive) rankOf(id uint64) (int, bool) {
	if a.ranks == nil {
		a.ranks = make(map[uint64]int, len(a.trace.Locations))
		for i := range a.trace.Locations {
			a.ranks[a.trace.Locations[i].ID] = a.trace.Locations[i].Rank
		}
	}
	rank, ok := a.ranks[id]
	return rank, ok
}

// Roles of regions in OTF2.
const (
	roleFunction        = 1
	roleParallel        = 5
	roleWorkshare       = 8
	roleBarrier         = 15
	roleImplicitBarrier = 16
	roleOneToAll        = 23
	roleAllToOne        = 24
	roleAllToAll        = 25
	roleCollective      = 26
	roleFileIO          = 27
	rolePointToPoint    = 28
	roleRMA             = 29
	roleArtificial      = 31
	roleFileMetadata    = 38
)

// otf2Roles are the roles of OTF2 by ours, but for collectives, whose role depends on the operation.
var otf2Roles = [...]uint8{
	timeline.Function: roleFunction, timeline.PointToPoint: rolePointToPoint, timeline.FileIO: roleFileIO, timeline.OneSided: roleRMA,
	timeline.Parallel: roleParallel, timeline.Barrier: roleBarrier, timeline.ImplicitBarrier: roleImplicitBarrier, timeline.Workshare: roleWorkshare,
}

// regionFromOTF2 translates paradigm and role; byName is the role that the name suggests.
func regionFromOTF2(paradigm, role uint8, byName timeline.Role) (timeline.Paradigm, timeline.Role) {
	switch paradigm {
	case paradigmMPI:
		switch role {
		case roleBarrier, roleOneToAll, roleAllToOne, roleAllToAll, roleCollective:
			return timeline.MPI, timeline.CollectiveCall
		case roleFileMetadata:
			return timeline.MPI, timeline.FileIO
		case rolePointToPoint, roleFileIO, roleRMA, roleFunction:
			return timeline.MPI, timeline.Role(slices.Index(otf2Roles[:], role))
		}
		return timeline.MPI, byName
	case paradigmOpenMP:
		switch {
		case role == roleParallel || role == roleBarrier || role == roleImplicitBarrier:
			return timeline.OpenMP, timeline.Role(slices.Index(otf2Roles[:], role))
		case role == 3 || role >= 6 && role <= 14 || role == 18 || role == 19: // loop, sections ... atomic, ordered
			return timeline.OpenMP, timeline.Workshare
		}
		return timeline.OpenMP, timeline.Function
	case paradigmMeasurement:
		if role == roleArtificial {
			return timeline.Noise, timeline.Function
		}
		return timeline.Tool, timeline.Function
	}
	if role == roleFileIO || role == roleFileMetadata {
		return timeline.User, timeline.FileIO
	}
	return timeline.User, timeline.Function
}

// regionToOTF2 translates paradigm and role back.
func regionToOTF2(r *timeline.Region) (paradigm, role uint8) {
	switch r.Paradigm {
	case timeline.Noise:
		return paradigmMeasurement, roleArtificial
	case timeline.Tool:
		return paradigmMeasurement, roleFunction
	}
	if role = otf2Roles[r.Role]; r.Role == timeline.CollectiveCall {
		role = collectiveRole(r.Name)
	}
	return [...]uint8{timeline.User: paradigmUser, timeline.MPI: paradigmMPI, timeline.OpenMP: paradigmOpenMP}[r.Paradigm], role
}

// collectiveRole is the role of a collective call by its name.
func collectiveRole(name string) uint8 {
	call, _ := strings.CutPrefix(strings.ToLower(name), "mpi_")
	op, ok := timeline.CollectiveOp(call)
	switch {
	case !ok:
		return roleCollective
	case op == timeline.OpBarrier:
		return roleBarrier
	case op == timeline.OpBcast || op == timeline.OpScatter || op == timeline.OpScatterv:
		return roleOneToAll
	case op == timeline.OpReduce || op == timeline.OpGather || op == timeline.OpGatherv:
		return roleAllToOne
	case op == timeline.OpScan || op == timeline.OpExscan:
		return roleCollective
	}
	return roleAllToAll
}
