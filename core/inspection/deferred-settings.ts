import {
  type CompiledInjectionSettings,
  deferSettings,
  type PatternSettings,
} from '../scanner/compile-settings.ts'
import type { LiteralFilter } from '../scanner/custom/literal-filter.ts'

/**
 * Injection settings as an event loop holds them: operators' patterns are compiled in a scan process, which also returns the literals
 * that every match contains.
 */
export class DeferredSettings {
  readonly source: PatternSettings
  #compiled: CompiledInjectionSettings
  #filter: LiteralFilter | null | undefined
  #compiling: Promise<void> | null = null

  constructor(source: PatternSettings) {
    this.source = source
    this.#compiled = deferSettings(source, null)
    this.#filter = source.custom_patterns.length === 0 ? null : undefined
  }

  get compiled(): CompiledInjectionSettings {
    return this.#compiled
  }

  /** No scan process has compiled them yet. */
  get wantsFilter(): boolean {
    return this.#filter === undefined
  }

  /** Every text must be searched for the patterns, so a scan on the loop would be wasted. */
  get isForProcess(): boolean {
    return this.source.custom_patterns.length > 0 && (this.#filter ?? null) === null
  }

  /** Resolves when the job that is to bring the filter has ended, with it or without; null while there is none. */
  get compiling(): Promise<void> | null {
    return this.#compiling
  }

  /** @param job of a scan process; only the first one that brings the filter counts */
  compileIn(job: Promise<unknown>): void {
    if (!this.wantsFilter || this.#compiling !== null) return
    const end = (): void => {
      this.#compiling = null
    }
    this.#compiling = job.then(end, end)
  }

  learn(filter: LiteralFilter | null): void {
    this.#filter = filter
    this.#compiled = deferSettings(this.source, filter)
  }
}
