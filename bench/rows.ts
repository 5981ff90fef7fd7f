import type { Row } from './subjects.ts'

/** Kinds of calls that several benches measure. */
export const GET_ALL_ON: Row = {
  name: 'GET, all on',
  body_bytes: 0,
  scans: true,
  limits: true,
}
export const POST_ALL_ON: Row = {
  name: 'POST 2 kB, all on',
  body_bytes: 2_048,
  scans: true,
  limits: true,
}
export const GET_UNCHECKED: Row = {
  name: 'GET, scan off, no limit',
  body_bytes: 0,
  scans: false,
  limits: false,
}
export const POST_UNCHECKED: Row = {
  name: 'POST 2 kB, scan off, no limit',
  body_bytes: 2_048,
  scans: false,
  limits: false,
}
