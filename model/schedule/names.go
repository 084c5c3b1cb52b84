package schedule

// Names tells how a file calls the operations of a graph and where they stand in it, for error
// messages and for writing the file again.
type Names struct {
	File  string
	label []uint32 // by operation: position in text, 0: no label
	line  []uint32 // by operation: line in the file, from 1; 0: not known
	text  []byte
}
