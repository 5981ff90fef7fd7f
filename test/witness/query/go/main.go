// What readers of Go read as api_key in each query: one line of Base64 in, one line of JSON out. See ../../query-readers.ts.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os"
	"strings"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		bytes, _ := base64.StdEncoding.DecodeString(lines.Text())
		text := string(bytes) + "&api_key=ours"
		now, _ := url.ParseQuery(text)
		before, _ := url.ParseQuery(strings.ReplaceAll(text, ";", "&"))
		out.Encode(map[string]string{"Go": now.Get("api_key"), "Go, before 1.17": before.Get("api_key")})
	}
}
