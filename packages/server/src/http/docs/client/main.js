// What the pages of the documentation do with scripts besides what they show without.
import { addCopyButtons } from './copy.js'
import { addSearch } from './search.js'
import { addTabs } from './tabs.js'
import { addTrials } from './trial.js'

addTabs()
addCopyButtons()
addSearch()
await addTrials()
