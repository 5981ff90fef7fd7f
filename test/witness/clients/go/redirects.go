// Follows redirects and keeps cookies with Go's net/http; reads its order on standard input, prints its version.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"runtime"
	"time"
)

func main() {
	var order struct {
		Headers   map[string]string
		Redirects []string
		Cookies   []string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
		panic(err)
	}
	get := func(client *http.Client, url string) {
		request, err := http.NewRequest("GET", url, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, url, err)
			return
		}
		for name, value := range order.Headers {
			request.Header.Set(name, value)
		}
		answer, err := client.Do(request)
		if err != nil {
			fmt.Fprintln(os.Stderr, url, err)
			return
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	for _, url := range order.Redirects {
		get(&http.Client{Timeout: 10 * time.Second}, url)
	}
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	for _, url := range order.Cookies {
		get(client, url)
	}
	fmt.Println("net/http of", runtime.Version())
}
