const NAME = 'agw_page_secret'

/**
 * The half of the session that the page keeps and sends in a header. Storage belongs to this origin alone, port
 * included, where a cookie goes to every port of the host; without the cookie, which no script reads, it opens nothing.
 */
class PageSecret {
  #value = localStorage.getItem(NAME) ?? ''

  get value(): string {
    return this.#value
  }

  keep(value: string): void {
    this.#value = value
    localStorage.setItem(NAME, value)
  }

  forget(): void {
    this.#value = ''
    localStorage.removeItem(NAME)
  }

  /** Calls back when another tab has signed out or signed in as another user: the data shown here is stale. */
  onChangeElsewhere(changed: () => void): void {
    const look = (): void => {
      if ((localStorage.getItem(NAME) ?? '') !== this.#value) changed()
    }
    addEventListener('storage', look)
    // A page that the browser has put aside for the back button receives no messages meanwhile.
    addEventListener('pageshow', look)
  }
}

export const pageSecret = new PageSecret()
