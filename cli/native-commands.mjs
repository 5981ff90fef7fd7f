/** The commands that run the scanner, and so need the package that is compiled. All others only speak to a gateway or its store. */
export const NATIVE_COMMANDS = new Set([
  'start',
  'ext-proc',
  'access-log',
  'admin',
  'scan',
  'restore',
])
