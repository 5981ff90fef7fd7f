package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type withKey string

func (key withKey) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", string(key))
	return http.DefaultTransport.RoundTrip(request)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	var calls map[string]map[string]any
	check(json.NewDecoder(os.Stdin).Decode(&calls))
	client := mcp.NewClient(&mcp.Implementation{Name: "witness", Version: "1.0.0"}, nil)
	transport := &mcp.StreamableClientTransport{
		Endpoint:   os.Args[1],
		HTTPClient: &http.Client{Transport: withKey(os.Args[2])},
	}
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: os.Args[3]})
	check(err)
	listed := map[string]bool{}
	tools, err := session.ListTools(ctx, nil)
	check(err)
	for _, tool := range tools.Tools {
		listed[tool.Name] = true
	}
	out := json.NewEncoder(os.Stdout)
	for name, arguments := range calls {
		answer, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
		check(err)
		text := answer.Content[0].(*mcp.TextContent).Text
		check(out.Encode(map[string]any{
			"revision": session.InitializeResult().ProtocolVersion, "tool": name, "is_listed": listed[name], "text": text,
		}))
	}
	check(session.Close())
}
