/** The lines of a block that are not empty. */
export const linesOf = (block: string): string[] => block.split('\n').filter((line) => line !== '')
