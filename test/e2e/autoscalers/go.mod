// The CRDs of what makes nodes: ProvisioningRequest of cluster-autoscaler, NodePool of Karpenter.
// Nothing of them is built; ./dev takes the two files out, for test/e2e/test_autoscalers.py.
module sluice.dev/e2e/autoscalers

go 1.26.0

require (
	k8s.io/autoscaler/cluster-autoscaler/apis v0.0.0-20240830133931-adfbe7e45277
	sigs.k8s.io/karpenter v1.8.0
)
