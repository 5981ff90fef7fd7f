import { totalmem } from 'node:os'

const MIB = 1024 ** 2

/** Shares of the memory that this machine, or its container, has; both are limits, not reservations. */
const ENVOY_SHARE = 0.5
const VALKEY_SHARE = 0.25
const LEAST_BYTES = 256 * MIB

export function memoryLimits(): { readonly envoy_bytes: number; readonly valkey_bytes: number } {
  const constrained = process.constrainedMemory()
  const total = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
  return {
    envoy_bytes: envoyHeapBytes(total),
    valkey_bytes: Math.max(LEAST_BYTES, Math.floor(total * VALKEY_SHARE)),
  }
}

export const envoyHeapBytes = (host_bytes: number): number =>
  Math.max(LEAST_BYTES, Math.floor(host_bytes * ENVOY_SHARE))
