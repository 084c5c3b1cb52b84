package cube

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// Limits of what is unpacked, against files that promise more than they hold.
const (
	maxMember = 1 << 30
	maxTotal  = 4 << 30
)

const anchorName = "anchor.xml"

// IsCube reports whether data looks like a Cube 4 file: a tar archive, compressed
// or not, one of whose first members is the description.
func IsCube(data []byte) bool {
	if isGzip(data) {
		head := data[:min(len(data), 1<<16)]
		r, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return false
		}
		begin := make([]byte, 512)
		n, _ := io.ReadFull(r, begin)
		data = begin[:n]
	}
	if len(data) < 512 || string(data[257:262]) != "ustar" && !bytes.Contains(data[:100], []byte(anchorName)) {
		return false
	}
	name := string(bytes.TrimRight(data[:100], "\x00"))
	base := path.Base(name)
	return base == anchorName || strings.HasSuffix(base, ".index") || strings.HasSuffix(base, ".data")
}

func isGzip(data []byte) bool { return len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b }

// Read reads a Cube 4 file. name is that of the file in messages.
func Read(name string, data []byte) (*File, error) {
	f := &File{Attributes: map[string]string{}}
	members, err := f.unpack(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	anchor, ok := members[anchorName]
	if !ok {
		return nil, fmt.Errorf("%s: holds no %s: it is not a Cube 4 file", name, anchorName)
	}
	if isGzip(anchor) {
		if anchor, err = gunzip(anchor, maxMember); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, anchorName, err)
		}
	}
	if err := f.parseAnchor(anchor); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", name, anchorName, err)
	}
	f.number()
	for _, m := range f.Metrics {
		index, values := members[strconv.Itoa(m.ID)+".index"], members[strconv.Itoa(m.ID)+".data"]
		if index == nil || values == nil {
			continue
		}
		if err := f.readValues(m, index, values); err != nil {
			return nil, fmt.Errorf("%s: metric %s: %w", name, m.Name, err)
		}
	}
	return f, nil
}

// gunzip unpacks at most so many bytes.
func gunzip(data []byte, most int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(out)) > most {
		err = fmt.Errorf("unpacks to more than %d MiB", most>>20)
	}
	return out, err
}

// unpack returns the members of the archive by their last names. Some writers leave
// wrong checksums in the headers; such an archive is read by its sizes alone.
func (f *File) unpack(data []byte) (map[string][]byte, error) {
	if isGzip(data) {
		var err error
		if data, err = gunzip(data, maxTotal); err != nil {
			return nil, err
		}
	}
	members := map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(data))
	for {
		header, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return members, nil
		case errors.Is(err, tar.ErrHeader):
			f.warnf("the archive has wrong checksums in its headers; it is read by the sizes there")
			return unpackPlain(data)
		case err != nil:
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		members[path.Base(header.Name)] = content
	}
}

// unpackPlain walks through the blocks of a tar archive without checksums.
func unpackPlain(data []byte) (map[string][]byte, error) {
	const block = 512
	members := map[string][]byte{}
	for at := 0; at+block <= len(data); {
		header := data[at : at+block]
		name, _, _ := bytes.Cut(header[:100], []byte{0})
		if len(name) == 0 {
			break
		}
		octal := strings.Trim(string(header[124:136]), " \x00")
		size, err := strconv.ParseInt(octal, 8, 64)
		at += block
		if err != nil || size < 0 || int64(at)+size > int64(len(data)) {
			return nil, fmt.Errorf("is damaged: the member %q at byte %d has no usable size", name, at-block)
		}
		if kind := header[156]; kind == '0' || kind == 0 {
			members[path.Base(string(name))] = data[at : at+int(size)]
		}
		at += (int(size) + block - 1) / block * block
	}
	return members, nil
}
