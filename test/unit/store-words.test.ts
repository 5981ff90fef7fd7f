import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStoreError } from '../../core/redis/describe-store-error.ts'

const SAID: readonly (readonly [error: string, means: RegExp])[] = [
  ["OOM command not allowed when used memory > 'maxmemory'.", /memory of the store is full/],
  ["READONLY You can't write against a read only replica.", /read-only replica/],
  ['MISCONF Errors writing to the AOF file: No space left on device', /disk of the store is full/],
  ['MISCONF Valkey is configured to save RDB snapshots', /cannot save its data/],
  ['NOREPLICAS Not enough good replicas to write.', /too few replicas/],
  ['NOAUTH Authentication required.', /requires a password/],
  ['WRONGPASS invalid username-password pair or user is disabled.', /user name or password/],
  ['ERR invalid password', /user name or password/],
  ["NOPERM User agw has no permissions to run the 'eval' command", /not allowed to run/],
  ['LOADING Valkey is loading the dataset in memory', /loading its data/],
  ['BUSY Valkey is busy running a script.', /script blocks the store/],
  ['CLUSTERDOWN Hash slot not served', /slot of the gateway/],
  ['MASTERDOWN Link with MASTER is down', /lost its primary/],
  ['ERR This instance has cluster support disabled', /not a cluster node/],
  ['self-signed certificate in certificate chain', /REDIS_TLS_CA_FILE/],
  ['unable to verify the first certificate', /REDIS_TLS_CA_FILE/],
  ['certificate has expired', /has expired/],
  ['certificate is not yet valid', /not valid yet/],
  ["Hostname/IP does not match certificate's altnames: Host: a", /REDIS_TLS_SERVER_NAME/],
  ['ssl3_read_bytes:tlsv13 alert certificate required:SSL alert number 116', /client certificate/],
  ['ssl3_get_record:wrong version number', /does not use TLS/],
  ['Unknown RESP type 72 "H". Please report this.', /does not speak the Redis protocol/],
  ['getaddrinfo ENOTFOUND store.example', /cannot be resolved/],
  ['getaddrinfo EAI_AGAIN store.example', /cannot be resolved/],
  ['connect ECONNREFUSED 10.0.0.1:6379', /connection refused/],
  ['connect ENOENT /run/valkey.sock', /socket file/],
  ['connect EACCES /run/valkey.sock', /not allowed to open/],
  ['connect ETIMEDOUT', /cannot be reached/],
  ['connect EHOSTUNREACH 10.0.0.1:6379', /cannot be reached/],
  [
    'All sentinels are unreachable. Retrying from scratch after 50ms. Last error: connect ECONNREFUSED 10.0.0.1:26379',
    /connection refused/,
  ],
  [
    'connected to sentinel a:26379 successfully, but got an invalid reply: null',
    /do not know a primary/,
  ],
  ['Command timed out', /does not respond/],
  ['Socket timeout: no answer within 1500 ms', /does not respond/],
  ['Connection is closed.', /closed the connection/],
]
for (const [error, means] of SAID)
  test(`the store says ${error.slice(0, 50)}: the operator reads what to do`, () => {
    const words = describeStoreError(new Error(error)) ?? ''
    assert.match(words, means)
    assert.doesNotMatch(words, /10\.0\.0\.1|store\.example|agw has/)
  })

for (const bug of [
  'x is not a function',
  "ENOENT: no such file or directory, open '/etc/agw'",
  'the query timed out',
  'ERR Unknown command',
])
  test(`not an error of the store: ${bug}`, () =>
    assert.equal(describeStoreError(new Error(bug)), null))
