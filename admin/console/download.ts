import { type ApiAnswer, dashboardHeaders, parse, refused, UNREACHABLE } from './api.ts'

const FILE_NAME = /filename="([^"]+)"/

/** Fetches a file and saves it. A plain link could not send the session header. */
export async function download(path: string): Promise<ApiAnswer<null>> {
  try {
    const answer = await fetch(path, { headers: dashboardHeaders(false) })
    if (!answer.ok)
      return { ok: false, problem: refused(path, answer.status, parse(await answer.text())) }
    const name = FILE_NAME.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? ''
    save(await answer.blob(), name)
    return { ok: true, value: null, etag: null }
  } catch {
    return { ok: false, problem: UNREACHABLE }
  }
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // By then the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(link.href))
}
