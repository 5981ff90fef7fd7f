import { anthropic } from './anthropic.ts'
import { awsBedrock } from './aws-bedrock.ts'
import { awsS3 } from './aws-s3.ts'
import { gemini } from './gemini.ts'
import { github } from './github.ts'
import { googleWorkspace } from './google-workspace.ts'
import { jira } from './jira.ts'
import { linear } from './linear.ts'
import { mcp } from './mcp.ts'
import { notion } from './notion.ts'
import { openai } from './openai.ts'
import { slack } from './slack.ts'
import { stripe } from './stripe.ts'
import type { ApiTemplate } from './template.ts'

/** By name. */
export const TEMPLATES: readonly ApiTemplate[] = [
  anthropic,
  awsBedrock,
  awsS3,
  gemini,
  github,
  googleWorkspace,
  jira,
  linear,
  mcp,
  notion,
  openai,
  slack,
  stripe,
]
