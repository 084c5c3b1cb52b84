package schedule

import (
	"io"

	"slackline/internal/chunk"
)

// The format *.slk holds a program as it is, symbolic collectives, phases and origins included.
// It is compact, fast to load, written in one pass without holding the program, and every byte of
// it is covered by a checksum.
//
// # Grammar
//
// A file is a sequence of chunks as package internal/chunk has them. In their contents, uint is an
// unsigned LEB128 number of up to 64 bits, int is one in zigzag form (0, -1, 1, -2, ...), string is
// a uint with the length and the bytes.
//
//	file = header("SLKSCHED") META DEFS* ( DEFS | OPS | RANK )* INDX trailer("SLKE")
//
// RANK is an OPS that begins with a rank, so that a reader can begin with it that wants this rank and
// not those before it (ReadSLKPart). Files of version 1 have none.
//
// What the content of a chunk means:
//
//	META = ranks:uint cpus:uint nics:uint may:uint groups:uint origins:uint names:uint [file:string]
//
// cpus, nics and the bits of may (1 wildcards, 2 graphs, 4 collectives) are the shape of the
// program. The bits of names tell whether there is a file name (1), and columns of labels (2) and
// of lines (4).
//
//	DEFS   = { "l" more:uint count:uint count*int      a list or a piece of it; differences
//	         | "g" list:uint first:uint stride:uint size:uint
//	         | "o" count:uint count*string string      an origin: path, call
//	         | "c" op:uint group:uint root:uint size:uint sizes:uint sources:uint destinations:uint
//	               tag:uint algorithm:string }
//
// Lists (of ranks, or of sizes) are numbered from 1 in the order of their last pieces, groups,
// origins and calls from 0. A list is named by its number, 0 is no list. All groups and origins
// that META announces come before the first OPS, each call before the first operation that makes
// it, and may be shared by operations of many ranks.
//
//	OPS = ranks:uint ops:uint 10*length:uint columns
//
// The operations of all ranks are one sequence, cut into chunks anywhere; so is its structure. The
// writer cuts between ranks where it can.
// ranks is the number of ranks begun in chunks before, ops that of operations in this chunk. The
// lengths are those of the columns, which follow:
//
//	structure   for each rank its number of blocks; then for each block 2 * operations, plus 1 if
//	            it has dependencies (uint)
//	flags       a byte for each operation: kind in bits 0 and 1; what differs from the operation
//	            of this kind before it in the chunk (before the first one: all 0): bit 2 size,
//	            3 peer, 4 tag, 5 place, 6 origin. Each has a value in its column.
//	sizes       uint; of a collective: the number of its call
//	peers       uint: 0 any source, else the zigzag form of the distance from the own rank, plus 1.
//	            The distance is taken modulo the number of ranks, the shorter way round. Of a
//	            calculation or a collective: none.
//	tags        uint; 2^32-1 is any tag
//	places      three bytes: cpu, nic, context; since version 3 the highest bit of the context of a send says that it
//	            is buffered: it never waits for its receive
//	origins     uint
//	dependents  for each operation of a block with dependencies their number, and each of them as
//	            uint: 2 * zigzag form of its distance in the block, plus 1 if it waits for the
//	            start. The list of the last operation may go on in the next chunk: what is left
//	            of it comes first there.
//	lines       int for each operation: the difference from the one before it (the first: from 0)
//	labels      for each operation without label a byte 0, for others the label and a byte 0
//
//	INDX = ops:uint blocks:uint dependents:uint count:uint { kind:4 length:uint ranks:uint ops:uint }
//
// The index names all chunks before it in their order: kind, length with its head, and for OPS and
// RANK the first two numbers in it.
//
// # Example
//
// Two ranks, a message of 8 bytes with tag 1 from rank 0 to rank 1; the contents of the chunks:
//
//	META  02 01 01 00 00 00 00
//	RANK  00 02  04 02 02 02 02 00 00 00 00 00
//	      structure 01 02 01 02   flags 1c 1d   sizes 08 08   peers 03 03   tags 01 01
//	INDX  02 02 00 02  "META" .. 00 00  "RANK" .. 00 02
//
// # What a reader rejects
//
// Another magic; a newer version (it names the version); a checksum that does not agree; chunks
// in another order; a RANK in the middle of a rank; content that is longer or shorter than its numbers say; numbers out of range:
// a peer, cpu, nic, tag, origin, call, group, root or list that does not exist, a call on a group
// without the rank, a negative size, a receive that is buffered, a dependent outside of its block; operations that wait for
// each other; a block that announces dependencies and has none; more or fewer blocks or operations than announced; ranks, groups or origins
// that are missing at the end; an index that does not agree with the chunks; anything after the
// trailer. A file without its end is a truncated one: see ReadSLKPrefix.
const (
	slkChunk   = 1 << 20 // the writer ends a chunk beyond this many bytes of content
	slkChunkOp = 1 << 16 // and beyond this many operations, so that they stay in the cache
	slkReserve = 1 << 22 // the reader makes room for this many operations on the word of the index
)

// The kinds of chunks.
const (
	slkMeta  = "META"
	slkDefs  = "DEFS"
	slkOps   = "OPS "
	slkRank  = "RANK" // slkOps that begins with a rank
	slkIndex = "INDX"
)

// The columns of a chunk of operations.
const (
	colStructure = iota
	colFlags
	colSizes
	colPeers
	colTags
	colPlaces
	colOrigins
	colDependents
	colLines
	colLabels
	numColumns
)

// The flags of an operation.
const (
	flagKind   = 3
	flagSize   = 1 << 2
	flagPeer   = 1 << 3
	flagTag    = 1 << 4
	flagPlace  = 1 << 5
	flagOrigin = 1 << 6
)

// The bits of META.
const (
	mayWildcards = 1 << iota
	mayGraphs
	mayCollectives
)

const (
	hasFile = 1 << iota
	hasLabels
	hasLines
)

var slkLayout = chunk.Layout{Magic: "SLKSCHED", End: "SLKE", Version: 3, What: "slackline schedule"}

var slkFormat = Format{
	Name: "slk", Noun: "a slackline schedule", Suffixes: []string{".slk"},
	Info:  "slackline schedule: compact binary form that keeps phases, collectives and origins",
	Sniff: IsSLK, Read: ReadSLK, Pack: packSLK,
	Write: func(w io.Writer, g *Graph) ([]string, error) { return nil, WriteSLK(w, g) },
}

// IsSLK reports whether a file that begins with head is an slk file.
func IsSLK(head []byte) bool { return slkLayout.Is(head) }

// distance returns how far peer is from rank on a ring of ranks, the shorter way round, so that
// ranks that do the same relative to themselves look the same.
func distance(peer, rank, ranks int64) int64 {
	d := peer - rank
	if d > ranks/2 {
		d -= ranks
	} else if d < -(ranks-1)/2 {
		d += ranks
	}
	return d
}
