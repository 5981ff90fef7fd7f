/** The command line itself cannot be used as it is: exit code 2. The message tells the operator what to give. */
export class UsageError extends Error {}
