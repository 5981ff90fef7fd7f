import type { ApiTemplate } from './template.ts'

/** Drive and Calendar, which share a host. Gmail, Docs and Sheets have hosts of their own: an integration each. */
export const googleWorkspace: ApiTemplate = {
  name: 'google-workspace',
  title: 'Google Workspace (Drive, Calendar)',
  base_url: 'https://www.googleapis.com',
  auth: { type: 'bearer' },
  secrets: { token: 'GOOGLE_ACCESS_TOKEN' },
  error_format: 'google',
  actions: {
    read: [
      'GET /drive/v3/about /drive/v3/files /drive/v3/files/* /drive/v3/files/*/export',
      'GET /drive/v3/files/*/permissions /drive/v3/files/*/comments /drive/v3/drives /drive/v3/changes',
      'GET /calendar/v3/users/me/calendarList /calendar/v3/calendars/*',
      'GET /calendar/v3/calendars/*/events /calendar/v3/calendars/*/events/*',
      'POST /calendar/v3/freeBusy',
    ],
    write: [
      'POST /drive/v3/files /drive/v3/files/*/copy /drive/v3/files/*/comments /upload/drive/v3/files',
      'PATCH /drive/v3/files/* /upload/drive/v3/files/*',
      'POST /calendar/v3/calendars/*/events /calendar/v3/calendars/*/events/quickAdd',
      'PUT,PATCH,DELETE /calendar/v3/calendars/*/events/*',
    ],
    admin: [
      'DELETE /drive/v3/files/* /drive/v3/files/trash',
      'POST /drive/v3/files/*/permissions /drive/v3/drives /calendar/v3/calendars',
      'PATCH,DELETE /drive/v3/files/*/permissions/*',
      'POST /calendar/v3/calendars/*/acl',
      'DELETE /calendar/v3/calendars/*',
    ],
  },
  words: {
    'POST /drive/v3/files/*/permissions': 'Share a file',
    'DELETE /drive/v3/files/trash': 'Empty the trash',
    'DELETE /drive/v3/files/*': 'Delete a file',
    'POST /calendar/v3/calendars/*/events': 'Create an event',
    'DELETE /calendar/v3/calendars/*': 'Delete a calendar',
  },
  description: {
    pypi: 'google-api-python-client==2.202.0',
    files: 'googleapiclient/discovery_cache/documents/{drive,calendar}.v3.json',
  },
}
