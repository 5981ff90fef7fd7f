import type { ApiTemplate } from './template.ts'

export const slack: ApiTemplate = {
  name: 'slack',
  title: 'Slack',
  base_url: 'https://slack.com/api',
  auth: { type: 'bearer' },
  secrets: { token: 'SLACK_BOT_TOKEN' },
  oauth: {
    authorization_url: 'https://slack.com/oauth/v2/authorize',
    token_url: 'https://slack.com/api/oauth.v2.access',
    // Of a bot; `search.messages` needs a user's token.
    scopes: {
      read: [
        'bookmarks:read',
        'channels:history',
        'channels:read',
        'emoji:read',
        'files:read',
        'groups:history',
        'groups:read',
        'pins:read',
        'reactions:read',
        'team:read',
        'users:read',
      ],
      write: [
        'channels:join',
        'chat:write',
        'files:write',
        'im:write',
        'pins:write',
        'reactions:write',
      ],
      admin: ['channels:manage', 'files:write', 'groups:write', 'usergroups:write'],
    },
    separator: ',',
  },
  error_format: 'slack',
  also_hosts: [{ host: 'files.slack.com', methods: ['GET', 'POST'] }],
  actions: {
    // Each method of the Web API can be called with GET and with POST.
    read: [
      'GET,POST /auth.test /team.info /emoji.list /bookmarks.list /pins.list /reactions.get',
      'GET,POST /conversations.list /conversations.info /conversations.history',
      'GET,POST /conversations.members /conversations.replies',
      'GET,POST /users.list /users.info /users.conversations /users.getPresence',
      'GET,POST /files.list /files.info /search.messages',
    ],
    write: [
      'POST /chat.postMessage /chat.postEphemeral /chat.update /chat.delete /chat.scheduleMessage',
      'POST /reactions.add /reactions.remove /pins.add /pins.remove',
      'POST /conversations.open /conversations.join /conversations.mark',
      'GET,POST /files.getUploadURLExternal',
      'POST /files.completeUploadExternal',
    ],
    admin: [
      'POST /conversations.create /conversations.archive /conversations.rename',
      'POST /conversations.invite /conversations.kick /conversations.setTopic',
      'POST /files.delete /usergroups.create /usergroups.users.update',
    ],
  },
  words: {
    'POST /chat.postMessage': 'Post a message',
    'POST /chat.delete': 'Delete a message',
    'POST /conversations.invite': 'Invite people to a channel',
    'POST /conversations.kick': 'Remove a person from a channel',
    'POST /conversations.archive': 'Archive a channel',
    'POST /files.delete': 'Delete a file',
  },
  description: { npm: '@slack/web-api@8.2.0', files: 'dist/methods.js' },
}
