package istio

import (
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	"istio.io/istio/pkg/config/mesh"
)

// Writes what the control plane of Istio sends an ingress gateway for the manifests in AGW_MANIFESTS
// and the mesh configuration AGW_MESH: a kind and a message a line.
func TestTranslate(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("AGW_MANIFESTS"))
	if err != nil {
		t.Fatal(err)
	}
	configs, _, err := crd.ParseInputs(string(text))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := mesh.ApplyMeshConfigDefaults(os.Getenv("AGW_MESH"))
	if err != nil {
		t.Fatal(err)
	}
	cg := core.NewConfigGenTest(t, core.TestOptions{Configs: configs, MeshConfig: settings})
	proxy := cg.SetupProxy(&model.Proxy{
		Type:            model.Router,
		ConfigNamespace: os.Getenv("AGW_NAMESPACE"),
		Labels:          map[string]string{"istio": "ingressgateway"},
		Metadata:        &model.NodeMetadata{Namespace: os.Getenv("AGW_NAMESPACE"), Labels: map[string]string{"istio": "ingressgateway"}},
	})
	out, err := os.Create(os.Getenv("AGW_OUTPUT"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	write := func(kind string, b []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(kind + " ")
		out.Write(b)
		out.WriteString("\n")
	}
	for _, l := range cg.Listeners(proxy) {
		b, err := protojson.Marshal(l)
		write("listener", b, err)
	}
	for _, r := range cg.RoutesFromListeners(proxy, cg.Listeners(proxy)) {
		b, err := protojson.Marshal(r)
		write("route", b, err)
	}
	for _, c := range cg.Clusters(proxy) {
		b, err := protojson.Marshal(c)
		write("cluster", b, err)
	}
}
