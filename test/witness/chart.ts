import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from '../../core/system/root.ts'
import { writeSchemas } from './chart/kubernetes-schemas.ts'

/**
 * Renders the Helm chart in its forms, lints it with helm and validates the result with kubeconform, against the API of
 * Kubernetes 1.30 and the definitions of the Prometheus operator; unknown members are errors. Needs Go, with which it
 * installs the tools below the cache directory (a minute or two the first time).
 *
 *     node cli/prepare.mjs build && node dist/test/witness/chart.js
 */
const TOOLS = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
} as const
/** Modules whose sources contain the schemas. */
const API = { module: 'sigs.k8s.io/kubectl-validate@v0.0.4', version: '1.30' }
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.83.0'
const KUBE_VERSION = '1.30.0'
const CHART = fromRoot('cli', 'helm', 'agent-access-gateway')

/** Each is rendered, as `--set` of helm. */
const FORMS: readonly (readonly string[])[] = [
  [],
  ['gateway.processes=1', 'podDisruptionBudget.enabled=false', 'networkPolicy.enabled=false'],
  [
    'gateway.processes=5',
    'autoscaling.enabled=true',
    'serviceMonitor.enabled=true',
    'prometheusRule.enabled=true',
  ],
  ['form=service'],
  ['form=service', 'autoscaling.enabled=true', 'autoscaling.callsInFlight=200'],
  [
    'form=service',
    'serviceMonitor.enabled=true',
    'prometheusRule.enabled=true',
    'prometheusRule.labels.release=monitoring',
  ],
  ['admin.archive.enabled=false', 'admin.replicas=2', 'settings.AGW_REGION=eu'],
  ['gateway.forwardPort=off'],
  [
    'image.digest=sha256:0000000000000000000000000000000000000000000000000000000000000000',
    'image.pullSecrets[0].name=r',
  ],
]

const cache = join(process.env['AGW_CACHE_DIR'] ?? join(homedir(), '.cache', 'agw'), 'chart-tools')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const go = (...args: readonly string[]): string =>
  execFileSync('go', args, {
    encoding: 'utf8',
    env: { ...process.env, GOBIN: cache },
    stdio: ['ignore', 'pipe', 'ignore'],
  })

function sourcesOf(module: string): string {
  const { Dir } = JSON.parse(go('mod', 'download', '-json', module)) as { Dir: string }
  return Dir
}

if (spawnSync('go', ['version']).error !== undefined) {
  say('Go is required to install helm and kubeconform.')
  process.exit(2)
}
mkdirSync(cache, { recursive: true })
for (const [name, source] of Object.entries(TOOLS))
  if (!existsSync(join(cache, name))) go('install', source)
const helm = (...args: readonly string[]): string =>
  execFileSync(join(cache, 'helm'), args, { encoding: 'utf8', stdio: 'pipe' })

const schemas = join(cache, 'schemas')
const definitions = ['podmonitors', 'servicemonitors', 'prometheusrules'].map((name) =>
  join(
    sourcesOf(OPERATOR),
    'example/prometheus-operator-crd',
    `monitoring.coreos.com_${name}.yaml`,
  ),
)
const apis = join(sourcesOf(API.module), 'pkg/openapiclient/builtins', API.version)
say(
  `${writeSchemas(apis, definitions, schemas)} kinds of Kubernetes ${API.version} and the operator`,
)

function validate(manifests: string): { readonly ok: boolean; readonly text: string } {
  const location = join(schemas, '{{.ResourceKind}}{{.KindSuffix}}.json')
  const { status, stdout } = spawnSync(
    join(cache, 'kubeconform'),
    ['-strict', '-summary', '-schema-location', location],
    { input: manifests, encoding: 'utf8' },
  )
  return { ok: status === 0, text: stdout.trim() }
}

for (const sets of FORMS) {
  const args = sets.flatMap((set) => ['--set', set])
  helm('lint', '--strict', '--kube-version', KUBE_VERSION, CHART, ...args)
  const manifests = helm('template', 'agw', CHART, '--kube-version', KUBE_VERSION, ...args)
  const { ok, text } = validate(manifests)
  assert.ok(ok, `${sets.join(' ')}:\n${text}`)
  say(`${sets.join(' ') || 'defaults'}: ${text.split('\n').at(-1)}`)
}

// The tools refuse what is wrong, so the results above mean something.
const rendered = helm('template', 'agw', CHART, '--kube-version', KUBE_VERSION)
for (const [from, to] of [
  ['readOnlyRootFilesystem', 'readonlyRootFilesystem'],
  ['maxUnavailable: 0', 'maxUnavailable: []'],
  ['targetPort: proxy', 'tragetPort: proxy'],
  ['restartPolicy: Always', 'restartPolicy: 1'],
] as const) {
  assert.ok(rendered.includes(from), from)
  assert.equal(validate(rendered.replace(from, to)).ok, false, to)
}
const wrong = ['admin.replicas=2', 'form=sidecar']
assert.throws(
  () => helm('template', 'agw', CHART, '--kube-version', KUBE_VERSION, '--set', wrong.join(',')),
  /./,
)
say('4 planted errors and a contradiction in the values are refused')
