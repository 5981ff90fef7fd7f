// Follows redirects and references and keeps cookies with Go's net/http; reads its order on standard input, prints its version.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"
)

var (
	followed = []string{"Location", "Content-Location", "Operation-Location", "Azure-Asyncoperation", "X-Goog-Upload-Url",
		"X-Goog-Upload-Control-Url", "Refresh", "Link", "Www-Authenticate", "X-Storage-Url", "Odata-Entityid"}
	inBrackets = regexp.MustCompile("<([^<>]*)>")
	inQuotes   = regexp.MustCompile(`="([^"]*)"`)
)

func references(name, value string) []string {
	var found []string
	switch name {
	case "Link":
		for _, match := range inBrackets.FindAllStringSubmatch(value, -1) {
			found = append(found, match[1])
		}
		for _, member := range strings.Split(value, ",") {
			found = append(found, strings.Trim(strings.SplitN(member, ";", 2)[0], " <>"))
		}
	case "Www-Authenticate":
		for _, match := range inQuotes.FindAllStringSubmatch(value, -1) {
			found = append(found, match[1])
		}
	case "Refresh":
		parts := strings.SplitN(value, "=", 2)
		found = append(found, strings.Trim(parts[len(parts)-1], " '\""))
	default:
		found = append(found, value)
	}
	return found
}

func main() {
	var order struct {
		Headers    map[string]string
		Redirects  []string
		References []string
		Jars       [][]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
		panic(err)
	}
	get := func(client *http.Client, url string) *http.Response {
		request, err := http.NewRequest("GET", url, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, url, err)
			return nil
		}
		for name, value := range order.Headers {
			request.Header.Set(name, value)
		}
		answer, err := client.Do(request)
		if err != nil {
			fmt.Fprintln(os.Stderr, url, err)
			return nil
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		return answer
	}
	for _, url := range order.Redirects {
		get(&http.Client{Timeout: 10 * time.Second}, url)
	}
	for _, urls := range order.Jars {
		jar, _ := cookiejar.New(nil)
		client := &http.Client{Jar: jar, Timeout: 10 * time.Second}
		for _, url := range urls {
			get(client, url)
		}
	}
	for _, url := range order.References {
		answer := get(&http.Client{Timeout: 10 * time.Second}, url)
		if answer == nil {
			continue
		}
		for _, name := range followed {
			for _, value := range answer.Header.Values(name) {
				for _, reference := range references(name, value) {
					if absolute, err := answer.Request.URL.Parse(reference); err == nil {
						get(&http.Client{Timeout: 10 * time.Second}, absolute.String())
					}
				}
			}
		}
	}
	fmt.Println("net/http of", runtime.Version())
}
