import { Companion } from "./companion.js";
import "./ui/app.js";
import type { PetApp } from "./ui/app.js";

const companion = new Companion();
const app = document.querySelector<PetApp>("pet-app");
if (app) app.companion = companion;
void companion.start();
