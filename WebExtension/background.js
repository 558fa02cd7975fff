// Entry point. Browsers require listeners to be registered synchronously.

import { api, connect } from "./host.js";
import * as front from "./front.js";
import * as opening from "./opening.js";
import * as pages from "./pages.js";
import * as panel from "./panel.js";

pages.start(front.update);
front.start();
opening.start();
panel.start();
api.runtime.onStartup.addListener(connect);
api.runtime.onInstalled.addListener(connect);
connect();
