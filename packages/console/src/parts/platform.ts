// The platform whose records a list shows.
import { get } from '../api.ts'
import { onlyPlatform } from '../only-platform.ts'
import { useRecord } from '../reads.ts'
import type { Choice } from './filters.tsx'

/** The platforms to choose from. `chosen`: the one that was, or that needs no choice; undefined while several are not chosen from. */
export function usePlatform(given: string | undefined): { readonly choices: readonly Choice[]; readonly chosen: string | undefined } {
  const { data } = useRecord(get('/platforms', {}))
  const platforms = data?.data ?? []
  const choices = platforms.map(({ platform_id: value, name }) => ({ value, label: name }))
  return { choices, chosen: given ?? onlyPlatform(platforms) }
}
