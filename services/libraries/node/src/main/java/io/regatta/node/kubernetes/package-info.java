/**
 * What Regatta asks of a Kubernetes cluster itself: the token of a job, as a Secret. A Job of the manifests calls it, in
 * the image; no service does.
 */
package io.regatta.node.kubernetes;
