/** The parts of the settings page, by what names them in its address. */
export const SETTINGS_TABS = {
  access: 'Tokens and keys',
  organizations: 'Organizations',
  health: 'Edges and health',
  audit: 'Audit',
} as const
