# Spack recipe of slackline. From a checkout, without any download:
#
#   spack repo add packaging/spack-repository-of-your-site
#   spack dev-build slackline@develop
from spack.package import *


class Slackline(Package):
    """Performance analysis of MPI programs: wait states, latency tolerance, noise, scaling."""

    version("develop")

    variant("mpi", default=True, description="Record and measure MPI programs")

    depends_on("go@1.26:", type="build")
    depends_on("gmake", type="build")
    depends_on("mpi", type="run", when="+mpi")

    def install(self, spec, prefix):
        make("install", f"PREFIX={prefix}")
