const OVERENCODED: Readonly<Record<string, string>> = {
  '%24': '$',
  '%26': '&',
  '%2B': '+',
  '%2C': ',',
  '%3A': ':',
  '%3B': ';',
  '%3D': '=',
  '%40': '@',
}

/** A decoded segment in its one canonical spelling: only what RFC 3986 does not allow in a segment is encoded. */
export const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(
    /%(?:24|26|2B|2C|3A|3B|3D|40)/g,
    (escape) => OVERENCODED[escape] ?? escape,
  )
