/** What is said of the records of a list that a newer version has stored, in the command line and in the console. */
export function unreadableText(noun: string, ids: readonly string[]): string {
  const [count, are, them] =
    ids.length === 1 ? [`1 ${noun}`, 'is', 'it'] : [`${ids.length} ${noun}s`, 'are', 'them']
  return `${count} that a newer version has stored ${are} not shown: ${ids.join(', ')}. Upgrade this admin service to see ${them}.`
}
