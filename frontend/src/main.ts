import "./ui/app.js";
