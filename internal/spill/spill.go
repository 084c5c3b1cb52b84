// Package spill keeps long lists of plain values in a file instead of on the heap, so that what is resident stays small
// however long they are. The file has no name, lies where the caller says, and is gone with the process.
//
// A nil Space stands for the heap: code that asks a Space for its lists need not know whether there is one. Lists must not hold
// pointers, for the garbage collector does not look into them, and must not be used after Close.
package spill

import (
	"fmt"
	"reflect"
	"unsafe"
)

// smallest is what Space.Smallest is at first: shorter lists are not worth a page.
const smallest = 16 << 10

// Make is make([]T, length, room) with the memory of a space.
func Make[T any](s *Space, length, room int) []T {
	if bytes := room * int(unsafe.Sizeof(*new(T))); s != nil && bytes > 0 && bytes >= s.Smallest {
		if hasPointers(reflect.TypeFor[T]()) {
			panic(fmt.Sprintf("lists of %v hold pointers and cannot be kept in a file", reflect.TypeFor[T]()))
		}
		if memory := s.take(bytes); memory != nil {
			return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), room)[:length]
		}
	}
	return make([]T, length, room)
}

// Append is append of one element. The list that it grows out of is void afterwards.
func Append[T any](s *Space, list []T, x T) []T {
	if s != nil && len(list) == cap(list) {
		longer := Make[T](s, len(list), max(64, 2*len(list)))
		copy(longer, list)
		Free(s, list)
		list = longer
	}
	return append(list, x)
}

// Free gives the memory of a list back, which must not be used any more.
func Free[T any](s *Space, list []T) {
	if bytes := cap(list) * int(unsafe.Sizeof(*new(T))); s != nil && bytes > 0 && bytes >= s.Smallest {
		s.free(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), bytes))
	}
}

// hasPointers reports whether values of a type refer to others.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return hasPointers(t.Elem())
	}
	return t.Kind() > reflect.Complex128 // Array, Chan, Func, Interface, Map, Pointer, Slice, String, UnsafePointer
}
