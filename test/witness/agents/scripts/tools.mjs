import { execSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

/** The tools of an agent in the scripts beside this file, and what it is asked to do. */
export const PROMPT = process.env.PROMPT
export const INSTRUCTIONS =
  'You are a release engineer. Work in the current folder, use the tools one at a time, and say when the checklist is done.'

const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}` }

/** Each with the name of its only parameters, which are texts. */
export const TOOLS = [
  {
    name: 'read_file',
    description: 'Reads a file and returns its text.',
    parameters: z.object({ path: z.string().describe('The path of the file.') }),
    execute: async ({ path }) => readFileSync(path, 'utf8'),
  },
  {
    name: 'write_file',
    description: 'Writes a text to a file, which is created if it does not exist.',
    parameters: z.object({ path: z.string(), content: z.string().describe('The whole text.') }),
    execute: async ({ path, content }) => {
      writeFileSync(path, content)
      return 'done'
    },
  },
  {
    name: 'edit_file',
    description: 'Replaces a text in a file by another.',
    parameters: z.object({ path: z.string(), old_text: z.string(), new_text: z.string() }),
    execute: async ({ path, old_text, new_text }) => {
      writeFileSync(path, readFileSync(path, 'utf8').replace(old_text, new_text))
      return 'done'
    },
  },
  {
    name: 'list_directory',
    description: 'Lists the files of a folder.',
    parameters: z.object({ path: z.string() }),
    execute: async ({ path }) => readdirSync(path).join('\n'),
  },
  {
    name: 'run_command',
    description: 'Runs a command in a shell and returns what it prints.',
    parameters: z.object({ command: z.string() }),
    execute: async ({ command }) => {
      try {
        return execSync(command, { encoding: 'utf8', timeout: 60_000, stdio: 'pipe' })
      } catch (error) {
        return String(error)
      }
    },
  },
  {
    name: 'fetch_page',
    description: 'Fetches a page of the web and returns its HTML.',
    parameters: z.object({ url: z.string() }),
    execute: async ({ url }) => (await fetch(url, { headers })).text(),
  },
  {
    name: 'lookup_release',
    description: 'Looks up what is known about a release: its date, its state and who leads it.',
    parameters: z.object({ version: z.string().describe('Such as 1.4.') }),
    execute: async ({ version }) => {
      const response = await fetch(process.env.MCP_URL, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'lookup_release', arguments: { version } },
        }),
      })
      return (await response.json()).result.content[0].text
    },
  },
]
