/** The echo API that `agw start` runs, at its usual port. */
export const ECHO_BASE_URL = 'http://127.0.0.1:8082/v1'
