package cluster

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"reflect"
)

// ErrGarbled is what an engine returns if what another process sent makes no sense to it.
var ErrGarbled = errors.New("what another process of the job sent makes no sense; do all of them run the same version?")

// Encode writes a value with exported fields for another process: for sums and what else is sent seldom.
func Encode(value any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(value)
	return b.Bytes(), err
}

// Decode reads what Encode wrote.
func Decode(data []byte, value any) error {
	if gob.NewDecoder(bytes.NewReader(data)).Decode(value) != nil {
		return ErrGarbled
	}
	return nil
}

// Broadcast gives data of process 0 to all processes; what the others give is not looked at.
func Broadcast(ctx context.Context, g Group, data []byte) ([]byte, error) {
	if g.Size() == 1 {
		return data, nil
	}
	if g.Rank() != 0 {
		data = nil
	}
	in, err := AllGather(ctx, g, data)
	if err != nil {
		return nil, err
	}
	return in[0], nil
}

// BroadcastValue gives the value of process 0 to all processes: value points to it there, and to where it goes elsewhere.
func BroadcastValue(ctx context.Context, g Group, value any) error {
	var data []byte
	if g.Rank() == 0 {
		var err error
		if data, err = Encode(value); err != nil {
			return err
		}
	}
	data, err := Broadcast(ctx, g, data)
	if err != nil || g.Rank() == 0 {
		return err
	}
	reflect.ValueOf(value).Elem().SetZero() // fields of the value that are zero are not sent
	return Decode(data, value)
}

// AllGatherValues gives a value to all processes and returns those of all.
func AllGatherValues[T any](ctx context.Context, g Group, value *T) ([]T, error) {
	return gatherValues(ctx, g, value, AllGather)
}

// GatherValues gives a value to process 0, which gets those of all; the others get nil.
func GatherValues[T any](ctx context.Context, g Group, value *T) ([]T, error) {
	return gatherValues(ctx, g, value, Gather)
}

func gatherValues[T any](ctx context.Context, g Group, value *T,
	gather func(ctx context.Context, g Group, data []byte) ([][]byte, error)) ([]T, error) {
	data, err := Encode(value)
	if err != nil {
		return nil, err
	}
	in, err := gather(ctx, g, data)
	if err != nil || in == nil {
		return nil, err
	}
	all := make([]T, len(in))
	for p := range in {
		if err := Decode(in[p], &all[p]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
