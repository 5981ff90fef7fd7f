// Answers every request with the method and path behind the override of gorilla/handlers. go run . PORT
package main

import (
	"encoding/json"
	"net/http"
	"os"

	"github.com/gorilla/handlers"
)

func main() {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"method": r.Method, "path": r.URL.Path})
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], handlers.HTTPMethodOverrideHandler(echo))
}
