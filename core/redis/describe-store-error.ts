/** Errors of the store or of the connection to it, and what each means for an operator. The first row that matches counts. */
const ROWS: readonly (readonly [says: RegExp, means: string])[] = [
  [
    /^OOM\b/,
    'the memory of the store is full (maxmemory). Kills and reactivations still work. Raise maxmemory, or lower AGW_ACTIVITY_MAX_BYTES',
  ],
  [
    /^MISCONF\b.*(No space left|ENOSPC)/i,
    'the disk of the store is full, so it accepts no writes. Free space there',
  ],
  [
    /^MISCONF\b/,
    'the store accepts no writes because it cannot save its data. Check the space and permissions of its disk; its log has the error',
  ],
  [
    /^READONLY\b/,
    'REDIS_URL points to a read-only replica. Use the address of the primary, or the Sentinel or Cluster form',
  ],
  [
    /^NOREPLICAS\b/,
    'the store accepts no writes because too few replicas are connected (min-replicas-to-write). Start the replicas',
  ],
  [/^NOAUTH\b/, 'the store requires a password. Add it to REDIS_URL'],
  [
    /^WRONGPASS\b|^ERR (invalid password|.*called without any password)/i,
    'the store rejects the user name or password of REDIS_URL (of REDIS_SENTINEL_PASSWORD for a Sentinel). Correct it',
  ],
  [
    /^NOPERM\b/,
    'the user of REDIS_URL is not allowed to run a required command. Grant it all commands on the keys and channels of the gateway',
  ],
  [
    /^LOADING\b/,
    'the store is loading its data after a start. It is available when it has finished',
  ],
  [/^BUSY\b/, 'a long-running script blocks the store. Wait, or end it with SCRIPT KILL'],
  [
    /^(CLUSTERDOWN|MOVED|ASK|TRYAGAIN)\b/,
    'the cluster does not serve the slot of the gateway. Check CLUSTER INFO and CLUSTER NODES',
  ],
  [
    /cluster support disabled|CLUSTER.*not allowed/i,
    'REDIS_URL has the form of a cluster, but the server is not a cluster node. Use redis:// or rediss://',
  ],
  [
    /^(MASTERDOWN|UNBLOCKED)\b/,
    'the store is a replica that has lost its primary. Start the primary, or promote the replica',
  ],
  [
    /alert (certificate required|bad certificate|unknown ca|handshake failure)|tlsv1.*alert|sslv3 alert/i,
    'the store rejects the TLS client certificate, or requires one. Set REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE',
  ],
  [
    /CERT_HAS_EXPIRED|certificate has expired/i,
    'the TLS certificate of the store has expired. Renew it',
  ],
  [
    /CERT_NOT_YET_VALID|certificate is not yet valid/i,
    'the TLS certificate of the store is not valid yet. Check the clocks of both machines',
  ],
  [
    /ALTNAME_INVALID|does not match certificate/i,
    'the TLS certificate of the store is for another name. Use that name in REDIS_URL, or set REDIS_TLS_SERVER_NAME',
  ],
  [
    /self.signed|unable to (verify|get)|UNABLE_TO_|issuer certificate|CERT_UNTRUSTED/i,
    'the TLS certificate of the store is not signed by a trusted CA. Set REDIS_TLS_CA_FILE to the file of its CA',
  ],
  [
    /wrong version number|packet length too long|EPROTO\b/i,
    'the store does not use TLS at this port. Use redis:// or its TLS port',
  ],
  [
    /REDIS_TLS_/,
    'the files of REDIS_TLS_CA_FILE, REDIS_TLS_CERT_FILE or REDIS_TLS_KEY_FILE cannot be used',
  ],
  [
    /Protocol error|Unknown RESP type/i,
    'the server at REDIS_URL does not speak the Redis protocol. Check host and port',
  ],
  [
    /getaddrinfo|ENOTFOUND|EAI_AGAIN/,
    'the host name of REDIS_URL cannot be resolved. Check the name and the DNS servers',
  ],
  [
    /invalid reply: null|unknown master|No such master/i,
    'the Sentinels do not know a primary with the name in REDIS_URL. Correct the name',
  ],
  [
    /ECONNREFUSED/,
    'connection refused at the address of REDIS_URL. Start the store, or correct the address',
  ],
  [/connect ENOENT/, 'the socket file of REDIS_URL does not exist. Start the store'],
  [
    /connect EACCES/,
    'this user is not allowed to open the socket file of REDIS_URL. Change its permissions',
  ],
  [
    /connect ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN/,
    'the host of REDIS_URL cannot be reached. Check the address, routes and firewalls',
  ],
  [/All sentinels are unreachable/i, 'no Sentinel of REDIS_URL can be reached. Start one'],
  [
    /Command timed out|Socket timeout/,
    'the store does not respond. Check that it runs and is not overloaded',
  ],
  [
    /ECONNRESET|EPIPE|Connection is closed|Socket closed|max retries|isn't writeable/i,
    'the store closed the connection. If it requires TLS, use rediss://; its log has the reason',
  ],
]

const textOf = (error: unknown): string => {
  const { message = '', code = '' } = error as { message?: string; code?: string }
  return `${message} ${code}`
}

/**
 * What is wrong with the store and what to do, without the last full stop. It contains no address or name. Null for an
 * error that does not come from the store or its connection.
 */
export function describeStoreError(error: unknown): string | null {
  const text = textOf(error)
  return ROWS.find(([says]) => says.test(text))?.[1] ?? null
}
