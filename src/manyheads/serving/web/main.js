/** The page: one store, one interface to the server, and the parts that share them. */

import { keepAddress, readAddress } from "./address.js";
import { createApi } from "./api.js";
import { createAttentionView } from "./attention.js";
import { createBeamView } from "./beam.js";
import { createPositionsView } from "./positions.js";
import { createSentenceChoice } from "./sentences.js";
import { createStepsView } from "./steps.js";
import { INITIAL, createStore } from "./store.js";
import { createTabs } from "./tabs.js";
import { createThemeSwitch } from "./theme.js";
import { createTranslator } from "./translator.js";

/**
 * Find an element that index.html has.
 * @param {string} id
 * @returns {HTMLElement}
 */
const find = (id) => document.getElementById(id);

const store = createStore({ ...INITIAL, ...readAddress(location.hash) });
const keys = { api: "" }; // the API key, where one is needed: kept for this visit alone, and out of the address
const api = createApi(() => keys.api);

createThemeSwitch(store, find("theme"));
createTabs(store, find("tabs"));
createSentenceChoice(store, api, find("sentences"));
createAttentionView(store, api, find("view-attention"));
createStepsView(store, api, find("view-steps"));
createBeamView(store, api, find("view-beam"));
createPositionsView(store, api, find("view-positions"));
createTranslator(store, api, find("translator"), (key) => (keys.api = key));
keepAddress(store);
