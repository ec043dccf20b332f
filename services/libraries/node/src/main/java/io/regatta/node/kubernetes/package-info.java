/**
 * The calls of Regatta to a Kubernetes cluster itself: the token of a job, as a Secret. A Job of the manifests runs it,
 * in the image; no service does.
 */
package io.regatta.node.kubernetes;
