/** What Node itself may need to start: for processes that get no settings and no secrets. */
export const BARE_ENVIRONMENT: NodeJS.ProcessEnv =
  process.env['LD_LIBRARY_PATH'] === undefined
    ? {}
    : { LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'] }
