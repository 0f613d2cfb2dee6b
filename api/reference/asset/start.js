"use strict";

// Starts Swagger UI. Requests carry what was typed into "Authorize", and no cookie.
SwaggerUIBundle({
	url: document.getElementById("description").href,
	dom_id: "#explorer",
	validatorUrl: null,
	deepLinking: true,
	docExpansion: "none",
	filter: true,
	defaultModelsExpandDepth: -1,
	displayRequestDuration: true,
	persistAuthorization: false,
	queryConfigEnabled: false,
	withCredentials: false,
	requestInterceptor: (request) => {
		request.credentials = "omit";
		return request;
	},
});
