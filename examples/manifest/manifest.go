// Writes a manifest of the files that it is given: size, SHA-256 and number of lines of each, sorted
// by name. It reads every file in pieces and never holds one whole.
//
//	go run manifest.go --out manifest.json FILE...
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
)

type entry struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Lines  int64  `json:"lines"`
	Sha256 string `json:"sha256"`
}

// lines counts line ends, as `wc -l` does.
type lines int64

func (n *lines) Write(piece []byte) (int, error) {
	for _, b := range piece {
		if b == '\n' {
			*n++
		}
	}
	return len(piece), nil
}

func describe(path string) (entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return entry{}, err
	}
	defer file.Close()
	digest := sha256.New()
	var ends lines
	size, err := io.Copy(io.MultiWriter(digest, &ends), bufio.NewReader(file))
	sum := hex.EncodeToString(digest.Sum(nil))
	return entry{filepath.Base(path), size, int64(ends), sum}, err
}

func run() error {
	out := flag.String("out", "", "where the manifest goes")
	flag.Parse()
	manifest := []entry{}
	for _, path := range flag.Args() {
		described, err := describe(path)
		if err != nil {
			return err
		}
		manifest = append(manifest, described)
	}
	sort.Slice(manifest, func(a, b int) bool { return manifest[a].Name < manifest[b].Name })
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(len(manifest), "files")
	return os.WriteFile(*out, append(text, '\n'), 0o644)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "manifest:", err)
		os.Exit(1)
	}
}
