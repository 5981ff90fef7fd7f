/** A caller who asks for a preview in any spelling, or for a dry run, gets no kill and no lock. */
export const isTrial = ({ query }: { readonly query?: unknown }): boolean =>
  Object.entries(query ?? {}).some(
    ([name, value]) =>
      /^(?:preview|dry_run)$/.test(name) && !/^(?:false|0|off|no)$/i.test(String(value)),
  )
